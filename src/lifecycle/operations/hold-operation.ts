import type { JsonValue } from "../../domain/canonical-json.ts";
import type {
  CompletedState,
  FailedState,
  LeasedOperation,
  Operation,
  OperationError,
  OperationState,
  PreparedState,
} from "../../domain/operation.ts";
import {
  completeOperation,
  failOperation,
  type HolderDecision,
  recordProgress,
  releaseOperation,
} from "../../domain/operation-transitions.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import { insideTransaction } from "./inside-transaction.ts";
import type { LedgerDeps } from "./ledger-deps.ts";
import { logOperation } from "./log-operation.ts";
import { operationInProgress } from "./operation-errors.ts";
import { requireOperation, saveOperation } from "./write-operation.ts";

/**
 * What changes together with an operation. It gets the session store as seen inside the transaction, whose
 * own `transaction` joins it; when it throws, neither it nor the operation changes.
 */
export type DomainChange = (store: SessionStore) => void;

/** Why an attempt did not finish the operation, and what it left behind: as before when not given. */
export interface Release {
  readonly lastError: string;
  readonly progress?: JsonValue;
  /** It may be carried on by the very next one, without the wait of its attempt; no when not given. */
  readonly isDueAtOnce?: boolean;
}

export interface Failure {
  readonly error: OperationError;
  /** What it left behind, `null` when nothing. */
  readonly result: JsonValue;
}

interface Transition<State extends OperationState> {
  readonly decide: (row: Operation, nowMs: number) => HolderDecision<State>;
  readonly change?: DomainChange | undefined;
}

/** Puts a finished step on record, with what changes with it, and renews the lease. */
export function checkpoint(
  deps: LedgerDeps,
  held: LeasedOperation,
  step: { readonly progress: JsonValue; readonly change?: DomainChange | undefined },
): LeasedOperation {
  const { token } = held.state;
  return write(deps, held, {
    decide: (row, nowMs) => recordProgress(row, { token, progress: step.progress }, nowMs),
    change: step.change,
  });
}

/** Renews the lease of work that takes long between two steps. */
export function renew(deps: LedgerDeps, held: LeasedOperation): LeasedOperation {
  const { token } = held.state;
  return write(deps, held, {
    decide: (row, nowMs) => recordProgress(row, { token, progress: row.progress }, nowMs),
  });
}

/**
 * Gives the operation up for the next one, with why.
 *
 * @throws AoError operation_in_progress when the lease was lost; nothing is written then.
 */
export function release(
  deps: LedgerDeps,
  held: LeasedOperation,
  { lastError, progress, isDueAtOnce = false }: Release,
): Operation<PreparedState> {
  const { token } = held.state;
  return write(deps, held, {
    decide: (row, nowMs) =>
      releaseOperation(row, { token, lastError, isDueAtOnce, progress: progress ?? row.progress }, nowMs),
  });
}

/**
 * Ends the operation with its result, in one transaction with what changes with it.
 *
 * @throws AoError operation_in_progress when the lease was lost; nothing is written then.
 */
export function complete(
  deps: LedgerDeps,
  held: LeasedOperation,
  end: { readonly result: JsonValue; readonly change?: DomainChange | undefined },
): Operation<CompletedState> {
  const { token } = held.state;
  return write(deps, held, {
    decide: (row, nowMs) => completeOperation(row, { token, result: end.result }, nowMs),
    change: end.change,
  });
}

/**
 * Ends the operation as failed, in one transaction with what changes with it.
 *
 * @throws AoError operation_in_progress when the lease was lost; nothing is written then.
 */
export function fail(
  deps: LedgerDeps,
  held: LeasedOperation,
  end: Failure & { readonly change?: DomainChange | undefined },
): Operation<FailedState> {
  const { error, result, change } = end;
  return write(deps, held, {
    decide: (row, nowMs) => failOperation(row, { token: held.state.token, error, result }, nowMs),
    change,
  });
}

/** The one way of a holder's work into the store: checked, changed, saved and told in one transaction. */
function write<State extends OperationState>(
  deps: LedgerDeps,
  held: LeasedOperation,
  { decide, change }: Transition<State>,
): Operation<State> {
  return deps.store.transaction(() => {
    const decision = decide(requireOperation(deps, held.id), deps.clock.nowMs());
    if (decision.kind === "lost") throw operationInProgress(decision.operation);
    change?.(insideTransaction(deps.store));
    saveOperation(deps, decision.operation);
    if (decision.operation.state.kind !== "prepared") logOperation(deps, decision.operation);
    return decision.operation;
  });
}
