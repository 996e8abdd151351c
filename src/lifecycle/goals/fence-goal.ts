import type { GoalState } from "../../domain/goal.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { OperationId } from "../../domain/operation.ts";
import type { GoalProvenance } from "../../domain/turn.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import { requireSession } from "../session-refs.ts";
import { requireGoal } from "./goal-rows.ts";
import { type FenceRequest, prepareFence } from "./prepare-fence.ts";
import { stepFence } from "./step-fence.ts";

/** What is known of a fence: facts, none of which follows from another. */
export interface FenceResult {
  readonly operationId: OperationId;
  /** The generation that is revoked for ever. */
  readonly target: GoalProvenance;
  /** The goal as it stands now. */
  readonly state: GoalState;
  /** It is on record, and nothing of that generation is delivered any more. */
  readonly intentAccepted: true;
  /** The turn that worked for it is over, and the goal cleared. */
  readonly settled: boolean;
  /** Why it is not settled, in one clause. */
  readonly waitsFor: string | null;
}

/**
 * Revokes one generation of a session's goal for ever, as when the issue behind it was withdrawn. A newer goal is
 * left alone. That its agent is out of reach is no error: then it is accepted, and not settled.
 *
 * @throws AoError session_not_found, goal_absent, operation_not_found, request_conflict
 * @throws AoError as the agent's answer says; `details.intentAccepted` is true then, and it is tried again.
 */
export async function fenceGoal(
  deps: SessionDeps,
  id: SessionId,
  request: FenceRequest,
): Promise<FenceResult> {
  requireSession(deps, id);
  await recoverOperations(deps);
  const operation = await crossing(deps, "fence.begin", () => prepareFence(deps, id, request));
  const ledger = operationLedger(deps);
  const claimed = await ledger.claim(operation.id, { evenIfNotDue: true });
  if (claimed.kind === "claimed") {
    const held = claimed.operation;
    await ledger.keepLease(held, () => stepFence(deps, held, { recovering: false }));
  }
  return resultOf(deps, id, operation.id);
}

function resultOf(deps: SessionDeps, sessionId: SessionId, operationId: OperationId): FenceResult {
  const { state, lastError } = requireOperation(deps, operationId);
  const goal = requireGoal(deps, sessionId);
  const fence = deps.goals.fences(sessionId).find((one) => one.operationId === operationId);
  const settled = state.kind === "completed";
  return {
    ...{ operationId, target: fence?.target ?? goal.generation, state: goal, intentAccepted: true, settled },
    waitsFor: settled ? null : (lastError ?? "another process carries it out"),
  };
}
