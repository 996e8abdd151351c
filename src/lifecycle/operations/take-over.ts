import { type AoErrorCode, codeOf, errorMessage, isAoError } from "../../domain/errors.ts";
import {
  isFinished,
  type LeasedOperation,
  type Operation,
  type OperationKind,
} from "../../domain/operation.ts";
import { type Holders, lookAtHolders, tryClaim } from "./claim-operation.ts";
import { release } from "./hold-operation.ts";
import { keepLease } from "./keep-lease.ts";
import type { LedgerDeps } from "./ledger-deps.ts";
import { requireOperation } from "./write-operation.ts";

/** Carries an operation on that somebody left: to its end, or back. It ends it, or throws. */
export type CarryOn = (operation: LeasedOperation) => Promise<void>;

/** An operation that could not be carried on. It stays, and is due again after its backoff. */
export interface TakeOverError {
  readonly operationId: string;
  readonly sessionId: string | null;
  /** `null` when not even that could be read. */
  readonly kind: OperationKind | null;
  readonly code: AoErrorCode;
  readonly message: string;
}

export interface TakeOverOptions {
  /** Those that it is about; all when absent. One of which it cannot tell, as it throws, is reported. */
  readonly chosen?: (operation: Operation) => boolean;
  /** Also those whose next try is due later. */
  readonly evenIfNotDue?: boolean;
}

export interface TakeOverReport {
  /** Those that were taken over, as they stand now, by creation. */
  readonly taken: readonly Operation[];
  readonly errors: readonly TakeOverError[];
}

/**
 * Takes over, oldest first, every operation that is due and held by nobody, and those whose holder is dead
 * or was silent for too long. Each is on its own: one that cannot be read or carried on is reported and
 * never stops the others. What another process holds, or takes meanwhile, is left alone.
 */
export async function takeOver(
  deps: LedgerDeps,
  carryOn: CarryOn,
  { chosen = () => true, evenIfNotDue = false }: TakeOverOptions = {},
): Promise<TakeOverReport> {
  const { operations: unfinished, unreadable } = deps.operations.unfinished();
  const holders = await lookAtHolders(deps, unfinished);
  const taken: Operation[] = [];
  const errors: TakeOverError[] = unreadable.map(({ id, sessionId, flaw }) => {
    return {
      operationId: id,
      sessionId,
      kind: null,
      code: "store_corrupt",
      message: `its row cannot be read (${flaw})`,
    };
  });
  for (const operation of unfinished) {
    try {
      if (!chosen(operation)) continue;
      const held = takeLeft(deps, operation, { holders, evenIfNotDue });
      if (held === null) continue;
      await carryOnOrRelease(deps, held, carryOn).finally(() => taken.push(requireOperation(deps, held.id)));
    } catch (error) {
      if (!isAoError(error, "operation_in_progress")) errors.push(takeOverError(operation, error));
    }
  }
  return { taken, errors };
}

function takeLeft(
  deps: LedgerDeps,
  { id }: Operation,
  known: { readonly holders: Holders; readonly evenIfNotDue: boolean },
): LeasedOperation | null {
  const decision = tryClaim(deps, id, known);
  return decision.kind === "claimed" ? decision.operation : null;
}

/** The error of the work outlives one of its release: a lost lease means that another one carries it on. */
async function carryOnOrRelease(deps: LedgerDeps, held: LeasedOperation, carryOn: CarryOn): Promise<void> {
  try {
    await keepLease(deps, held, () => carryOn(held));
  } catch (error) {
    releaseAfter(deps, held, error);
    throw error;
  }
}

/**
 * What keeps it from being released is only of interest when the claim is lost; else the lease runs out. One that the
 * work itself has ended before it failed has no claim either.
 */
function releaseAfter(deps: LedgerDeps, held: LeasedOperation, cause: unknown): void {
  try {
    release(deps, held, { lastError: errorMessage(cause) });
  } catch (error) {
    if (isAoError(error, "operation_in_progress") && !isEndedUnder(deps, held)) throw error;
  }
}

function isEndedUnder(deps: LedgerDeps, { id, attempt }: LeasedOperation): boolean {
  const row = requireOperation(deps, id);
  return isFinished(row) && row.attempt === attempt;
}

function takeOverError({ id, sessionId, kind }: Operation, error: unknown): TakeOverError {
  const code = codeOf(error);
  return { operationId: id, sessionId, kind, code, message: errorMessage(error) };
}
