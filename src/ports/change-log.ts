import type { JsonValue } from "../domain/canonical-json.ts";
import type { ProjectId, SessionId } from "../domain/ids.ts";

/** One accepted change, as readers of `ao events` see it. */
export interface Change {
  /** From 1, one more with each change, without gaps. */
  readonly sequence: number;
  readonly atMs: number;
  readonly projectId: ProjectId;
  readonly sessionId: SessionId | null;
  /** `session.created`, `session.changed`, `operation.completed`, …: an open list. */
  readonly type: string;
  readonly data: JsonValue;
}

/**
 * What happened, in the order it was committed. A change is appended in the transaction of what it tells
 * of (`SessionStore.transaction`), so that neither is ever there without the other. Nothing is ever changed
 * or removed. Any call may throw what the session store throws.
 * Behaviour every adapter owes: test/contract/change-log.contract.ts.
 */
export interface ChangeLog {
  /** Returns the sequence number that the change was given. */
  append(change: Omit<Change, "sequence">): number;
  /** The first `limit` changes after `sequence`, oldest first. Reading on from the last one misses none. */
  after(sequence: number, limit: number): readonly Change[];
  /** The newest sequence number; 0 while there is none. */
  last(): number;
}
