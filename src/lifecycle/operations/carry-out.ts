import { type JsonValue, jsonMembers, toJson } from "../../domain/canonical-json.ts";
import { codeOf, errorMessage, isAoError } from "../../domain/errors.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import { isFreedError } from "../salvage/freed-error.ts";
import { passingFailure, type TakenBack, type UndoStep, withUndo } from "../undo.ts";
import { operationLedger } from "./ledger.ts";
import { requireOperation } from "./write-operation.ts";

/**
 * Carries out the steps of an operation that this process holds, up to and with its completion. When one
 * fails, those before it are taken back and the operation has failed. When one could not be taken back now, the
 * operation is unfinished, and whoever recovers operations next takes it back; so is one that has freed a worktree,
 * which whoever comes next finishes. When another process took the operation over meanwhile, nothing more is done.
 *
 * @throws what `work` throws, as `withUndo`.
 */
export async function carryOut<Result>(
  deps: SessionDeps,
  held: LeasedOperation,
  work: (undo: UndoStep[]) => Promise<Result>,
): Promise<Result> {
  const ledger = operationLedger(deps);
  return ledger.keepLease(held, () =>
    withUndo(work, {
      mayTakeBack: () => holdsStill(() => markUndoing(deps, held)),
      onTakenBack: (cause, taken) => void holdsStill(() => endUndone(deps, held, { cause, taken })),
    }),
  );
}

/** Whoever finds the operation from now on takes it back as well. */
function markUndoing(deps: SessionDeps, held: LeasedOperation): void {
  operationLedger(deps).checkpoint(held, undoingProgress(deps, held));
}

function undoingProgress(deps: SessionDeps, held: LeasedOperation): JsonValue {
  const progress = requireOperation(deps, held.id).progress;
  const members = jsonMembers(progress);
  return members === undefined ? progress : { ...members, undoing: true };
}

function endUndone(
  deps: SessionDeps,
  held: LeasedOperation,
  { cause, taken }: { readonly cause: unknown; readonly taken: TakenBack },
): void {
  const ledger = operationLedger(deps);
  if (isFreedError(cause)) return void ledger.release(held, { lastError: cause.message, isDueAtOnce: true });
  const passing = passingFailure(taken);
  if (passing !== undefined) {
    const lastError = `${errorMessage(cause)}; not taken back yet: ${errorMessage(passing.error)}`;
    ledger.release(held, { lastError, progress: undoingProgress(deps, held) });
    return;
  }
  const { left } = taken;
  ledger.fail(held, {
    error: { code: codeOf(cause), message: errorMessage(cause) },
    result: left.length === 0 ? null : { left: left.map(toJson) },
  });
}

/** False when the claim is lost. A store that fails is no proof of that: the row is recovered later. */
function holdsStill(write: () => void): boolean {
  try {
    write();
    return true;
  } catch (error) {
    return !isAoError(error, "operation_in_progress");
  }
}
