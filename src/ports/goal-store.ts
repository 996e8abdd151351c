import type { GoalFence, GoalState } from "../domain/goal.ts";
import type { SessionId } from "../domain/ids.ts";

/** A goal whose row cannot be read: it is damaged, or a later `ao` wrote it. */
export interface UnreadableGoal {
  readonly sessionId: string;
  /** The first part that is wrong, for example `desired.status`. */
  readonly flaw: string;
}

/** Rows of a query, each on its own: one that cannot be read never hides the others. */
export interface GoalRows {
  readonly goals: readonly GoalState[];
  readonly unreadable: readonly UnreadableGoal[];
}

/**
 * The goals of all sessions and the fences of their generations, and nothing of their rules but that a session has
 * one goal, and an operation is fenced once. Calls are synchronous and take part in the transaction of the session
 * store. Any call may throw what that throws.
 * Behaviour every adapter owes: test/contract/goal-store.contract.ts.
 */
export interface GoalStore {
  /** @throws AoError store_corrupt when its row cannot be read. */
  state(sessionId: SessionId): GoalState | undefined;
  /** Those that are wanted and not paused, by session. */
  active(): GoalRows;
  /** Adds a row. False when the session has one; nothing changed then. */
  insert(state: GoalState): boolean;
  /** Replaces the row when its stored version is `readVersion`. False when not, or when there is no row. */
  save(state: GoalState, readVersion: number): boolean;
  /** All of a session, oldest first. @throws AoError store_corrupt when one cannot be read. */
  fences(sessionId: SessionId): readonly GoalFence[];
  /** Adds a fence, for ever. False when the operation of its target has one; nothing changed then. */
  insertFence(fence: GoalFence): boolean;
  /** Puts on record whose agent was told of a fence. False when there is no such fence. */
  markInstalled(fence: Pick<GoalFence, "sessionId" | "target">, launchId: string): boolean;
}
