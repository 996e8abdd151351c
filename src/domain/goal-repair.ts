import { type GoalAction, type GoalState, isGivenUp } from "./goal.ts";
import { withVersion } from "./goal-transitions.ts";
import type { OperationId } from "./operation.ts";

export type RepairDecision =
  /** It was made good before, or the goal is given up already. */
  | { readonly kind: "known" }
  /** The order that is under way has to be given anew, in the next epoch. */
  | { readonly kind: "wake"; readonly state: GoalState; readonly operationId: OperationId }
  /** The newest order was carried out, and has to be given once more, in the next epoch. */
  | { readonly kind: "repeat"; readonly state: GoalState; readonly action: GoalAction }
  /** Too often in this revision: only a new order helps. */
  | { readonly kind: "given_up"; readonly state: GoalState };

/**
 * What follows from a late result of an earlier order: the agent may have gone back to it. `source` is the operation
 * of that order; the same one counts once in a revision. Pure and total.
 *
 * @param repairId the operation that a repeated order is given by.
 */
export function decideRepair(
  state: GoalState,
  {
    source,
    repairId,
    nowMs,
  }: { readonly source: string; readonly repairId: OperationId; readonly nowMs: number },
): RepairDecision {
  if (state.incidents.includes(source) || isGivenUp(state)) return { kind: "known" };
  const noted = { ...state, incidents: [...state.incidents, source] };
  if (isGivenUp(noted)) {
    const lost = { ...noted, syncStatus: "unknown", pendingOperationId: null } as const;
    return { kind: "given_up", state: withVersion(lost, nowMs) };
  }
  const { pendingOperationId, generation } = state;
  const repairEpoch = generation.repairEpoch + 1;
  const operationId = pendingOperationId ?? repairId;
  const woken = withVersion(
    {
      ...noted,
      generation: { operationId, revision: generation.revision, repairEpoch },
      ...{ syncStatus: "pending", pendingOperationId: operationId },
    },
    nowMs,
  );
  return pendingOperationId === null
    ? { kind: "repeat", state: woken, action: actionFor(state) }
    : { kind: "wake", state: woken, operationId };
}

/** The order that gives what is wanted now. */
function actionFor({ desired }: GoalState): GoalAction {
  if (desired === null) return "clear";
  return desired.status === "paused" ? "pause" : "set";
}
