import type { ProjectId, SessionId } from "../domain/ids.ts";
import type { Operation, OperationId, OperationKind } from "../domain/operation.ts";

/** An operation whose row cannot be read: it is damaged, or a later `ao` wrote it. */
export interface UnreadableOperation {
  readonly id: string;
  readonly sessionId: string | null;
  /** The first part that is wrong, for example `state.owner.process`. */
  readonly flaw: string;
}

/** Rows of a query, each on its own: one that cannot be read never hides the others. */
export interface OperationRows {
  readonly operations: readonly Operation[];
  readonly unreadable: readonly UnreadableOperation[];
}

/**
 * The rows of the operation ledger, and nothing of its rules. Calls are synchronous and take part in the
 * transaction of the session store. Any call may throw what the session store throws.
 * Behaviour every adapter owes: test/contract/operation-store.contract.ts.
 */
export interface OperationStore {
  /** @throws AoError store_corrupt when its row cannot be read. */
  get(id: OperationId): Operation | undefined;
  /** Adds a row. False when the id is taken; nothing changed then. */
  insert(operation: Operation): boolean;
  /**
   * Replaces state, progress, attempt and times of the row when its stored version is `readVersion` and it is not
   * finished; what was asked for stays as it was inserted. False when not, or when there is no row; nothing changed
   * then. The caller has set the new version in `operation`.
   */
  save(operation: Operation, readVersion: number): boolean;
  /** All that are neither completed nor failed, by creation and then by id. */
  unfinished(): OperationRows;
  /** The newest `limit` of a kind in a project, newest first. Reads the whole ledger: not for every command. */
  ofKind(kind: OperationKind, projectId: ProjectId, limit: number): OperationRows;
  /** The newest `limit` of a session, newest first. */
  ofSession(id: SessionId, limit: number): OperationRows;
}
