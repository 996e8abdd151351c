import { assertNever } from "./assert-never.ts";
import type { JsonValue } from "./canonical-json.ts";
import {
  type CompletedState,
  type FailedState,
  isLeased,
  type LeasedOperation,
  type LeasedState,
  type Operation,
  type OperationError,
  type OperationOwner,
  type OperationState,
  type PreparedState,
} from "./operation.ts";
import { backoffMs, isDue, isExpired, isTooLong, LEASE_MS } from "./operation-schedule.ts";

/**
 * What is known of who holds an operation, by pid, start time and boot id. `unknown`: it could not be looked at,
 * which proves nothing.
 */
export type HolderFact = "alive" | "dead" | "unknown";

/** Who wants to work on an operation, and what is known of who does. */
export interface Claim {
  /** Never used before. */
  readonly token: string;
  readonly owner: OperationOwner;
  readonly holder: HolderFact;
  /** Take it though its next attempt is due later. */
  readonly evenIfNotDue: boolean;
}

/** Why an operation cannot be claimed: another one holds it, its next attempt is due later, or it is over. */
export type ClaimObstacle = "held" | "not_due" | "finished";

export type ClaimDecision =
  | { readonly kind: "claimed"; readonly operation: LeasedOperation }
  | { readonly kind: ClaimObstacle; readonly operation: Operation };

/** What the work of a holder comes to. `lost`: the token does not hold it (any more), nothing changes. */
export type HolderDecision<State extends OperationState> =
  | { readonly kind: "changed"; readonly operation: Operation<State> }
  | { readonly kind: "lost"; readonly operation: Operation };

/** Takes a due operation, or one whose holder is dead or was silent for too long. One attempt more. */
export function claimOperation(operation: Operation, claim: Claim, nowMs: number): ClaimDecision {
  const obstacle = obstacleTo(claim, operation.state, nowMs);
  if (obstacle !== null) return { kind: obstacle, operation };
  const { token, owner } = claim;
  const state: LeasedState = { kind: "leased", token, owner, expiresAtMs: nowMs + LEASE_MS };
  const attempt = operation.attempt + 1;
  return {
    kind: "claimed",
    operation: { ...withState(operation, state, nowMs), attempt, lastError: null },
  };
}

function obstacleTo(claim: Claim, state: OperationState, nowMs: number): ClaimObstacle | null {
  switch (state.kind) {
    case "prepared":
      return claim.evenIfNotDue || isDue(state, nowMs) ? null : "not_due";
    case "leased":
      return claim.holder === "dead" || isOver(state, claim, nowMs) ? null : "held";
    case "completed":
    case "failed":
      return "finished";
    default:
      return assertNever(state);
  }
}

/** A lease that is longer than any proves a clock that was set back: nothing, of a holder that is seen alive. */
function isOver(lease: LeasedState, { holder }: Claim, nowMs: number): boolean {
  return isExpired(lease, nowMs) || (holder === "unknown" && isTooLong(lease, nowMs));
}

/** Puts a step's evidence on record and renews the lease. The same progress again only renews it. */
export function recordProgress(
  operation: Operation,
  step: { readonly token: string; readonly progress: JsonValue },
  nowMs: number,
): HolderDecision<LeasedState> {
  return asHolder(operation, step.token, (held) => ({
    ...withState(held, { ...held.state, expiresAtMs: nowMs + LEASE_MS }, nowMs),
    progress: step.progress,
  }));
}

/**
 * Gives it back, to be tried again at once or after the backoff of this attempt; progress and schedule in one write.
 */
export function releaseOperation(
  operation: Operation,
  release: {
    readonly token: string;
    readonly progress: JsonValue;
    readonly lastError: string;
    readonly isDueAtOnce?: boolean;
  },
  nowMs: number,
): HolderDecision<PreparedState> {
  const { token, progress, lastError, isDueAtOnce = false } = release;
  const waitMs = (attempt: number) => (isDueAtOnce ? 0 : backoffMs(attempt));
  return asHolder(operation, token, (held) => ({
    ...withState(held, { kind: "prepared", nextAttemptAtMs: nowMs + waitMs(held.attempt) }, nowMs),
    progress,
    lastError,
  }));
}

/** Ends it well, for good. */
export function completeOperation(
  operation: Operation,
  { token, result }: { readonly token: string; readonly result: JsonValue },
  nowMs: number,
): HolderDecision<CompletedState> {
  return asHolder(operation, token, (held) =>
    withState(held, { kind: "completed", result, completedAtMs: nowMs }, nowMs),
  );
}

/** Ends it without success, for good. The same request may run anew, as another generation. */
export function failOperation(
  operation: Operation,
  failure: { readonly token: string; readonly error: OperationError; readonly result: JsonValue },
  nowMs: number,
): HolderDecision<FailedState> {
  const { token, error, result } = failure;
  return asHolder(operation, token, (held) => withState(held, { kind: "failed", error, result }, nowMs));
}

/**
 * Ends an operation without its holder's word, because a later request took its place: the holder has lost its claim
 * then. One that is over already stays as it is.
 */
export function supersedeOperation(operation: Operation, result: JsonValue, nowMs: number): Operation {
  const { kind } = operation.state;
  if (kind === "completed" || kind === "failed") return operation;
  const ended = withState(operation, { kind: "completed", result, completedAtMs: nowMs }, nowMs);
  // Nothing is over that nobody ever took up.
  return { ...ended, attempt: Math.max(ended.attempt, 1) };
}

/** Takes an unfinished operation from whoever holds it and makes it due now, as if nothing had been tried. */
export function wakeOperation(operation: Operation, progress: JsonValue, nowMs: number): Operation {
  const { kind } = operation.state;
  if (kind === "completed" || kind === "failed") return operation;
  const due: PreparedState = { kind: "prepared", nextAttemptAtMs: nowMs };
  return { ...withState(operation, due, nowMs), progress, attempt: 0, lastError: null };
}

function asHolder<State extends OperationState>(
  operation: Operation,
  token: string,
  change: (held: LeasedOperation) => Operation<State>,
): HolderDecision<State> {
  const isHolder = isLeased(operation) && operation.state.token === token;
  return isHolder ? { kind: "changed", operation: change(operation) } : { kind: "lost", operation };
}

/** The next version of a row. Its time never goes back, whatever the clock does. */
function withState<State extends OperationState>(
  operation: Operation,
  state: State,
  nowMs: number,
): Operation<State> {
  const updatedAtMs = Math.max(operation.updatedAtMs, nowMs);
  return { ...operation, state, version: operation.version + 1, updatedAtMs };
}
