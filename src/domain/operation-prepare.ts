import { isSameJson, type JsonValue } from "./canonical-json.ts";
import type { ProjectId, SessionId } from "./ids.ts";
import type { FailedState, Operation, OperationId, OperationKind, PreparedState } from "./operation.ts";

/** What an operation is to do, before there is one. */
export interface OperationRequest {
  readonly id: OperationId;
  readonly kind: OperationKind;
  readonly projectId: ProjectId;
  readonly sessionId: SessionId | null;
  readonly subject: string;
  readonly input: JsonValue;
  /** What the first step's undo needs; `null` when nothing. */
  readonly progress: JsonValue;
}

export type PrepareDecision =
  /** There was none: this one is to be written. */
  | { readonly kind: "created"; readonly operation: Operation<PreparedState> }
  /** It is there already, with the same input. */
  | { readonly kind: "found"; readonly operation: Operation }
  /** It was tried and failed: the request may run anew, as another generation under another id. */
  | { readonly kind: "failed_before"; readonly operation: Operation<FailedState> }
  /** It is there with another input, also when it failed. */
  | { readonly kind: "conflict"; readonly operation: Operation };

/** A new operation, due now. */
function prepareOperation(request: OperationRequest, nowMs: number): Operation<PreparedState> {
  return {
    ...request,
    state: { kind: "prepared", nextAttemptAtMs: nowMs },
    attempt: 0,
    version: 1,
    lastError: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** What a request comes to when `stored` is what its id names already. */
export function decidePrepare(
  stored: Operation | undefined,
  request: OperationRequest,
  nowMs: number,
): PrepareDecision {
  if (stored === undefined) return { kind: "created", operation: prepareOperation(request, nowMs) };
  if (!asksTheSame(stored, request)) return { kind: "conflict", operation: stored };
  return hasFailed(stored)
    ? { kind: "failed_before", operation: stored }
    : { kind: "found", operation: stored };
}

/** The session is not compared: a repeated spawn finds the session that the first one made. */
function asksTheSame(stored: Operation, request: OperationRequest): boolean {
  return (
    stored.kind === request.kind &&
    stored.projectId === request.projectId &&
    stored.subject === request.subject &&
    isSameJson(stored.input, request.input)
  );
}

function hasFailed(operation: Operation): operation is Operation<FailedState> {
  return operation.state.kind === "failed";
}
