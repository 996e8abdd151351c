import { goalStatus, isSameGeneration } from "../../domain/goal.ts";
import { afterTurnBegun } from "../../domain/goal-transitions.ts";
import type { Message } from "../../domain/message.ts";
import type { SessionDeps } from "../deps.ts";
import { changeGoal } from "./goal-rows.ts";

/**
 * Whether a message may go to its agent as far as goals are concerned: one of a goal only while the goal is wanted
 * at exactly its generation, and that is not fenced. Inside the transaction that puts the delivery on record.
 */
export function mayDeliver({ goals }: Pick<SessionDeps, "goals">, { goal, sessionId }: Message): boolean {
  if (goal === null) return true;
  const state = goals.state(sessionId);
  const isWanted = state?.desired?.status === "active" && isSameGeneration(state.generation, goal.generation);
  const isFenced = goals.fences(sessionId).some(({ target }) => isSameGeneration(target, goal.generation));
  return isWanted && !isFenced && state !== undefined && goalStatus(state) !== "completed";
}

/** Counts the turn that a message begins. Inside the transaction that puts its delivery on record. */
export function countTurn(
  deps: Pick<SessionDeps, "goals" | "changes" | "clock">,
  { goal, sessionId }: Message,
): void {
  if (goal === null) return;
  changeGoal(deps, sessionId, (state, nowMs) => afterTurnBegun(state, goal.number, nowMs));
}
