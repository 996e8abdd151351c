import type { JsonValue } from "../../domain/canonical-json.ts";
import type {
  CompletedState,
  FailedState,
  LeasedOperation,
  Operation,
  OperationId,
  PreparedState,
} from "../../domain/operation.ts";
import type { ClaimDecision } from "../../domain/operation-transitions.ts";
import { type ClaimOptions, claim } from "./claim-operation.ts";
import {
  checkpoint,
  complete,
  type DomainChange,
  type Failure,
  fail,
  type Release,
  release,
} from "./hold-operation.ts";
import { keepLease } from "./keep-lease.ts";
import type { LedgerDeps } from "./ledger-deps.ts";
import {
  type BeginOutcome,
  begin,
  type PrepareOutcome,
  type PrepareRequest,
  prepare,
} from "./prepare-operation.ts";
import { type CarryOn, type TakeOverOptions, type TakeOverReport, takeOver } from "./take-over.ts";

/**
 * Durable intents: written before their first side effect, held by one process at a time, finished or
 * undone by whoever comes next. Every call is one transaction.
 *
 * A holder is known by the token of its claim, so an operation as it was when it was claimed will do
 * wherever one is asked for. The calls of a holder throw AoError operation_in_progress when its claim was
 * lost, and change nothing then. Any call may throw what the store throws.
 */
export interface OperationLedger {
  /**
   * Writes the intent, due now and held by nobody.
   *
   * @throws AoError store_corrupt when what is unfinished on that session cannot be read.
   */
  prepare(request: PrepareRequest): PrepareOutcome;
  /** As `prepare`, and holds what it wrote, together with `change`: no other process comes between. */
  begin(request: PrepareRequest, change?: DomainChange): BeginOutcome;
  /**
   * Takes an operation to work on, at once when its holder is proven dead.
   *
   * @throws AoError internal when there is none of that id.
   */
  claim(id: OperationId, options?: ClaimOptions): Promise<ClaimDecision>;
  /** Puts a finished step on record, together with `change`, and renews the lease. */
  checkpoint(held: LeasedOperation, progress: JsonValue, change?: DomainChange): LeasedOperation;
  /** Runs work of which a step may take longer than a lease, and renews the lease meanwhile. */
  keepLease<Result>(held: LeasedOperation, work: () => Promise<Result>): Promise<Result>;
  /** Gives it back, to be tried again at once or after the backoff of this attempt. */
  release(held: LeasedOperation, why: Release): Operation<PreparedState>;
  /** Ends it well: result, `change` and the entry of the change log are there together or not at all. */
  complete(held: LeasedOperation, result: JsonValue, change?: DomainChange): Operation<CompletedState>;
  /** Ends it without success; the same request may be made anew. Together with `change`, as `complete`. */
  fail(held: LeasedOperation, failure: Failure, change?: DomainChange): Operation<FailedState>;
  /** Carries on whatever was left, or what is chosen of it, each on its own. */
  takeOver(carryOn: CarryOn, options?: TakeOverOptions): Promise<TakeOverReport>;
}

/** The operation ledger, worked on by `deps.self`. */
export function operationLedger(deps: LedgerDeps): OperationLedger {
  return {
    prepare: (request) => prepare(deps, request),
    begin: (request, change) => begin(deps, request, change),
    claim: (id, options) => claim(deps, id, options),
    checkpoint: (held, progress, change) => checkpoint(deps, held, { progress, change }),
    keepLease: (held, work) => keepLease(deps, held, work),
    release: (held, why) => release(deps, held, why),
    complete: (held, result, change) => complete(deps, held, { result, change }),
    fail: (held, failure, change) => fail(deps, held, { ...failure, change }),
    takeOver: (carryOn, options) => takeOver(deps, carryOn, options),
  };
}
