import { jsonMembers, toJson } from "../../domain/canonical-json.ts";
import { errorMessage, isAoError } from "../../domain/errors.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import type { Leftover } from "../leftover.ts";
import { type UndoStep, withUndo } from "../undo.ts";
import { operationLedger } from "./ledger.ts";
import { requireOperation } from "./write-operation.ts";

/**
 * Carries out the steps of an operation that this process holds, up to and with its completion. When one
 * fails, those before it are taken back and the operation has failed; when another process took the operation
 * over meanwhile, nothing more is done.
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
      onTakenBack: (cause, left) => void holdsStill(() => failWith(deps, held, { cause, left })),
    }),
  );
}

/** Whoever finds the operation from now on takes it back as well. */
function markUndoing(deps: SessionDeps, held: LeasedOperation): void {
  const progress = requireOperation(deps, held.id).progress;
  const members = jsonMembers(progress);
  operationLedger(deps).checkpoint(held, members === undefined ? progress : { ...members, undoing: true });
}

function failWith(
  deps: SessionDeps,
  held: LeasedOperation,
  { cause, left }: { readonly cause: unknown; readonly left: readonly Leftover[] },
): void {
  const code = isAoError(cause) ? cause.code : "internal";
  operationLedger(deps).fail(held, {
    error: { code, message: errorMessage(cause) },
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
