import { type GoalState, goalStatus, isSameGeneration } from "./goal.ts";
import type { LaunchId } from "./ids.ts";
import type { ActivityState } from "./lifecycle.ts";
import type { MessageState } from "./message.ts";
import { isSettledTurn, type Turn } from "./turn.ts";

/** What is known when a goal may be taken up again. */
export interface ContinuationFacts {
  readonly activity: ActivityState | null;
  readonly launchId: LaunchId;
  /** The newest turn of the session. */
  readonly newest: Turn | undefined;
  /** Something waits to be delivered, or is on its way. */
  readonly hasWaiting: boolean;
  /** What became of the message of its latest turn; `undefined` when this generation has sent none. */
  readonly last: MessageState | undefined;
}

export type Continuation =
  | { readonly kind: "none" }
  /** It cannot go on without a person, who has to give a new order. */
  | { readonly kind: "block"; readonly why: string }
  /** All its turns were used: it is asked once more whether it is reached, and then it is over. */
  | { readonly kind: "last_check" }
  /** Its next turn, of this number, unless it is found to be reached. */
  | { readonly kind: "go_on"; readonly number: number };

const NONE: Continuation = { kind: "none" };

/**
 * Whether a goal gets another turn: only while the agent rests, nothing waits for it, and the goal is active and in
 * step with what was asked. Pure and total.
 */
export function decideContinuation(state: GoalState, facts: ContinuationFacts): Continuation {
  const { desired, syncStatus, turnsUsed, pendingOperationId } = state;
  const isInStep = pendingOperationId === null && syncStatus === "synced" && goalStatus(state) === "active";
  if (desired === null || !isInStep || facts.hasWaiting || !rests(facts.activity)) return NONE;
  const why = whyBlocked(state, facts);
  if (why !== null) return { kind: "block", why };
  return turnsUsed >= desired.maxTurns ? { kind: "last_check" } : { kind: "go_on", number: turnsUsed + 1 };
}

function rests(activity: ActivityState | null): boolean {
  return activity === "ready" || activity === "idle";
}

function whyBlocked({ generation }: GoalState, { last, newest, launchId }: ContinuationFacts): string | null {
  if (last?.kind === "unconfirmed") return "the agent did not confirm the last message";
  if (last?.kind === "failed") return last.error.message;
  if (newest === undefined || !isSettledTurn(newest) || newest.launchId !== launchId) return null;
  const isItsOwn = newest.goal !== null && isSameGeneration(newest.goal, generation);
  const { outcome } = newest.state;
  const wasStopped = outcome === "canceled" || (outcome === "interrupted" && newest.error === null);
  return isItsOwn && wasStopped ? "its turn was stopped" : null;
}
