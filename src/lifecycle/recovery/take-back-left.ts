import { toJson } from "../../domain/canonical-json.ts";
import { AoError } from "../../domain/errors.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import type { Leftover } from "../leftover.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { passingFailure, takeBack, type UndoStep } from "../undo.ts";

/**
 * Takes back what the steps of a dead process have left. What holds work stays, and is told in the result.
 *
 * @throws what kept a step from being taken back now, so that it is tried again.
 */
export async function takeBackLeft(
  deps: SessionDeps,
  held: LeasedOperation,
  steps: readonly UndoStep[],
): Promise<void> {
  const cause = new AoError("interrupted", `${held.kind} was broken off`);
  const taken = await takeBack(steps, cause);
  const passing = passingFailure(taken);
  if (passing !== undefined) throw passing.error;
  await failUndone(deps, held, taken.left);
}

/** Ends an operation of which nothing but `left`, which holds work, is left. */
export async function failUndone(
  deps: SessionDeps,
  held: LeasedOperation,
  left: readonly Leftover[],
): Promise<void> {
  const error = {
    code: "interrupted",
    message: "it was broken off before it was done, and it was taken back",
  };
  const result = left.length === 0 ? null : { left: left.map(toJson) };
  await crossing(deps, `${held.kind}.fail`, () => operationLedger(deps).fail(held, { error, result }));
}
