import { assertNever } from "../../domain/assert-never.ts";
import type { Operation, OperationState } from "../../domain/operation.ts";
import type { UnreadableOperation } from "../../ports/operation-store.ts";
import { operationShape } from "./operation-shape.ts";
import { parseJson } from "./parse-json.ts";

/** The columns that only some states have; the schema insists that exactly those of the state are there. */
interface StateColumns {
  readonly state: OperationState["kind"];
  readonly next_attempt_at: number | null;
  readonly lease_token: string | null;
  readonly lease_owner: string | null;
  readonly lease_expires_at: number | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly completed_at: number | null;
}

/** A row of the table `operations` as it is written. */
export interface OperationRow extends StateColumns {
  readonly id: string;
  readonly kind: string;
  readonly project_id: string;
  readonly session_id: string | null;
  readonly subject: string;
  readonly input: string;
  readonly progress: string;
  readonly attempt: number;
  readonly version: number;
  readonly last_error: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** A row as it is read: nothing is known of it yet. */
export type StoredOperationRow = { readonly [Column in keyof OperationRow]: unknown };

export type ParsedOperation =
  | { readonly kind: "operation"; readonly operation: Operation }
  | { readonly kind: "unreadable"; readonly row: UnreadableOperation };

const NO_STATE: Omit<StateColumns, "state"> = {
  next_attempt_at: null,
  lease_token: null,
  lease_owner: null,
  lease_expires_at: null,
  result: null,
  error: null,
  completed_at: null,
};

/** The row of an operation. */
export function operationRow(operation: Operation): OperationRow {
  return {
    ...stateColumns(operation.state),
    id: operation.id,
    kind: operation.kind,
    project_id: operation.projectId,
    session_id: operation.sessionId,
    subject: operation.subject,
    input: JSON.stringify(operation.input),
    progress: JSON.stringify(operation.progress),
    attempt: operation.attempt,
    version: operation.version,
    last_error: operation.lastError,
    created_at: operation.createdAtMs,
    updated_at: operation.updatedAtMs,
  };
}

function stateColumns(state: OperationState): StateColumns {
  switch (state.kind) {
    case "prepared":
      return { ...NO_STATE, state: state.kind, next_attempt_at: state.nextAttemptAtMs };
    case "leased":
      return {
        ...NO_STATE,
        state: state.kind,
        lease_token: state.token,
        lease_owner: JSON.stringify(state.owner),
        lease_expires_at: state.expiresAtMs,
      };
    case "completed":
      return {
        ...NO_STATE,
        state: state.kind,
        result: JSON.stringify(state.result),
        completed_at: state.completedAtMs,
      };
    case "failed":
      return {
        ...NO_STATE,
        state: state.kind,
        result: JSON.stringify(state.result),
        error: JSON.stringify(state.error),
      };
    default:
      return assertNever(state);
  }
}

/** The operation of a row. A row of which any part is missing or unknown is unreadable: nothing is made up. */
export function parseOperationRow(row: StoredOperationRow): ParsedOperation {
  const candidate: unknown = {
    id: row.id,
    kind: row.kind,
    projectId: row.project_id,
    sessionId: row.session_id,
    subject: row.subject,
    input: parseJson(row.input),
    progress: parseJson(row.progress),
    state: parseState(row),
    attempt: row.attempt,
    version: row.version,
    lastError: row.last_error,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
  const flaw = operationShape(candidate);
  if (flaw === null) return { kind: "operation", operation: candidate as Operation };
  const sessionId = row.session_id === null ? null : String(row.session_id);
  return { kind: "unreadable", row: { id: String(row.id), sessionId, flaw } };
}

function parseState(row: StoredOperationRow): unknown {
  const { state: kind, next_attempt_at: nextAttemptAtMs } = row;
  switch (kind) {
    case "prepared":
      return { kind, nextAttemptAtMs };
    case "leased":
      return {
        kind,
        token: row.lease_token,
        owner: parseJson(row.lease_owner),
        expiresAtMs: row.lease_expires_at,
      };
    case "completed":
      return { kind, result: parseJson(row.result), completedAtMs: row.completed_at };
    case "failed":
      return { kind, error: parseJson(row.error), result: parseJson(row.result) };
    default:
      return { kind };
  }
}
