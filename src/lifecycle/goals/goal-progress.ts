import { type JsonValue, jsonMembers } from "../../domain/canonical-json.ts";
import { AoError } from "../../domain/errors.ts";
import { GOAL_ACTIONS, type GoalAction } from "../../domain/goal.ts";
import type { GoalDelivery, GoalMilestone } from "../../domain/goal-budget.ts";
import type { GoalControl } from "../../domain/goal-transitions.ts";
import type { Operation } from "../../domain/operation.ts";
import type { GoalProvenance } from "../../domain/turn.ts";

/** What the tries of an order leave behind. */
export interface GoalProgress extends GoalDelivery {
  readonly revision: number;
  readonly repairEpoch: number;
}

/** How an order ended: `superseded` by a newer one; `unknown` when the agent was not asked. */
export type GoalPhase = "applied" | "unknown" | "superseded";

/** As the ledger keeps it. */
export function goalProgressJson({ revision, repairEpoch, dispatched, accepted }: GoalProgress): JsonValue {
  return { revision, repairEpoch, dispatched: milestoneJson(dispatched), accepted: milestoneJson(accepted) };
}

function milestoneJson(milestone: GoalMilestone | null): JsonValue {
  return milestone === null ? null : { atMs: milestone.atMs, attempt: milestone.attempt };
}

/** @throws AoError store_corrupt when it cannot be read. */
export function parseGoalProgress(operation: Operation): GoalProgress {
  const { revision, repairEpoch, dispatched, accepted } = jsonMembers(operation.progress) ?? {};
  if (typeof revision !== "number" || typeof repairEpoch !== "number")
    throw unreadable(operation, "progress");
  return { revision, repairEpoch, dispatched: milestoneOf(dispatched), accepted: milestoneOf(accepted) };
}

function milestoneOf(json: JsonValue | undefined): GoalMilestone | null {
  const { atMs, attempt } = jsonMembers(json ?? null) ?? {};
  return typeof atMs === "number" && typeof attempt === "number" ? { atMs, attempt } : null;
}

/** As the ledger keeps it: what a repeat has to ask for as well. */
export function goalControlJson({ action, objective, maxTurns, until }: GoalControl): JsonValue {
  return { action, objective, maxTurns, until };
}

/** What the operation orders. @throws AoError store_corrupt when it cannot be read. */
export function actionOf(operation: Operation): GoalAction {
  const named = jsonMembers(operation.input)?.["action"];
  const action = GOAL_ACTIONS.find((one) => one === named);
  if (action === undefined) throw unreadable(operation, "input.action");
  return action;
}

/** The generation that an operation stands for. @throws AoError store_corrupt */
export function generationOf(operation: Operation): GoalProvenance {
  const { revision, repairEpoch } = parseGoalProgress(operation);
  return { operationId: operation.id, revision, repairEpoch };
}

/** The result of an order, as the ledger keeps it. */
export function goalResult(phase: GoalPhase): JsonValue {
  return { phase };
}

/** What a fence keeps of its work: the clear that goes with it; `null` when a newer goal was left alone. */
export function fenceProgressJson(clearOperationId: string | null): JsonValue {
  return { clearOperationId };
}

/** What a fence is asked to do, as the ledger keeps it. */
export function fenceInputJson(targetOperationId: string, reason: string): JsonValue {
  return { targetOperationId, reason };
}

/** The operation that clears the goal of a fence; `null` when none has to. */
export function clearIdOf({ progress }: Operation): string | null {
  const id = jsonMembers(progress)?.["clearOperationId"];
  return typeof id === "string" ? id : null;
}

/** The operation that a fence is about. @throws AoError store_corrupt */
export function targetIdOf(operation: Operation): string {
  const id = jsonMembers(operation.input)?.["targetOperationId"];
  if (typeof id !== "string") throw unreadable(operation, "input.targetOperationId");
  return id;
}

function unreadable({ id }: Operation, flaw: string): AoError {
  return new AoError("store_corrupt", `operation ${id} cannot be read (${flaw})`, {
    hint: "ao doctor",
    details: { operationId: id },
  });
}
