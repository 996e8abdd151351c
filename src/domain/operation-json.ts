import type { JsonValue } from "./canonical-json.ts";
import { isoTime } from "./iso-time.ts";
import type { Operation, OperationError, OperationKind, OperationState } from "./operation.ts";

/** Who works on an operation, for readers outside. */
interface HolderJson {
  readonly pid: number;
  readonly command: string;
  readonly since: string;
}

/** An operation for readers outside. What was asked and its steps are not told: prompts may be in them. */
export interface OperationJson {
  readonly id: string;
  readonly kind: OperationKind;
  readonly state: OperationState["kind"];
  /** The caller's own, or one that was made up for the call. */
  readonly requestId: string;
  readonly attempt: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly holder: HolderJson | null;
  readonly nextAttemptAt: string | null;
  readonly lastError: string | null;
  readonly error: OperationError | null;
  readonly result: JsonValue;
}

/** Every key is present, times are ISO 8601 UTC. */
export function toOperationJson(operation: Operation): OperationJson {
  const { id, kind, subject, state, attempt, lastError } = operation;
  return {
    id,
    kind,
    state: state.kind,
    requestId: subject,
    attempt,
    createdAt: isoTime(operation.createdAtMs),
    updatedAt: isoTime(operation.updatedAtMs),
    holder: state.kind === "leased" ? holderJson(state.owner) : null,
    nextAttemptAt: state.kind === "prepared" ? isoTime(state.nextAttemptAtMs) : null,
    lastError,
    error: state.kind === "failed" ? { code: state.error.code, message: state.error.message } : null,
    result: state.kind === "completed" || state.kind === "failed" ? state.result : null,
  };
}

function holderJson({ process, command, sinceMs }: Extract<OperationState, { kind: "leased" }>["owner"]) {
  return { pid: process.pid, command, since: isoTime(sinceMs) };
}
