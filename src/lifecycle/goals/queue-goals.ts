import { assertNever } from "../../domain/assert-never.ts";
import type { GoalDesired, GoalObserved } from "../../domain/goal.ts";
import { goalMessage } from "../../domain/goal-text.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Message } from "../../domain/message.ts";
import type { GoalProvenance } from "../../domain/turn.ts";
import type { GoalAnswer, GoalOrder, GoalRuntime } from "../../ports/goal-runtime.ts";
import type { SessionDeps } from "../deps.ts";
import { insertMessage, nextMessage } from "../messages/message-rows.ts";
import { crossing } from "../operations/crossing.ts";
import { requireSession } from "../session-refs.ts";
import { goalMessageId, withdrawMessage } from "./goal-rows.ts";

/** The turn that a `set` begins. */
const FIRST = 1;

/**
 * Goals for an agent that knows none: `ao` itself keeps them, and tells the agent by messages. What was delivered is
 * known by the receipts of the queue, and what must not be is refused there (`mayDeliver`), so an order may be given
 * as often as one likes, and a fence needs no word to the agent.
 */
export function queueGoals(deps: SessionDeps): GoalRuntime {
  return {
    replaysAfterRestart: true,
    keepsOrder: true,
    control: async (order) => {
      if (order.action !== "set") return { kind: "applied", observed: observedOf(order.desired) };
      const message = await crossing(deps, "goal.queue", () => queueTurn(deps, order, FIRST));
      return answerOf(message, order);
    },
    query: async (order) => {
      const message = deps.messages.get(goalMessageId(deps, order.generation, FIRST));
      if (order.action !== "set" || message === undefined)
        return { kind: "waiting", why: "nothing was sent" };
      return answerOf(message, order);
    },
    async fence({ sessionId, generation }) {
      deps.store.transaction(() => withdrawGeneration(deps, sessionId, generation));
      return { kind: "installed" };
    },
  };
}

/** Puts the message that begins a turn of a goal into the queue of its session, unless it is there. */
export function queueTurn(
  deps: SessionDeps,
  { sessionId, generation, desired }: Pick<GoalOrder, "sessionId" | "generation" | "desired">,
  number: number,
): Message | undefined {
  const id = goalMessageId(deps, generation, number);
  return deps.store.transaction(() => {
    const earlier = deps.messages.get(id);
    if (earlier !== undefined || !isCurrent(deps, sessionId, generation) || desired === null) return earlier;
    const origin = number === FIRST ? "goal_arm" : "goal_continuation";
    const text = goalMessage(desired.objective, { number, maxTurns: desired.maxTurns });
    const goal = { origin, generation, number } as const;
    const draft = { id, channel: "terminal", requestId: null, text, goal } as const;
    const message = nextMessage(deps, requireSession(deps, sessionId), draft);
    insertMessage(deps, message);
    return message;
  });
}

/** Whether the goal of a session still is at a generation. */
function isCurrent(
  { goals }: Pick<SessionDeps, "goals">,
  sessionId: SessionId,
  { operationId, revision, repairEpoch }: GoalProvenance,
): boolean {
  const now = goals.state(sessionId)?.generation;
  return now?.operationId === operationId && now.revision === revision && now.repairEpoch === repairEpoch;
}

/** What the agent follows, as far as `ao` itself decides it. */
function observedOf(desired: GoalDesired | null): GoalObserved | null {
  return desired && { objective: desired.objective, status: desired.status, detail: null };
}

async function answerOf(
  message: Message | undefined,
  { desired, onDispatch }: GoalOrder,
): Promise<GoalAnswer> {
  if (message === undefined) return { kind: "waiting", why: "a newer order came" };
  const { state } = message;
  switch (state.kind) {
    case "queued":
      return { kind: "waiting", why: "its message waits in the queue" };
    case "delivering":
    case "unconfirmed":
      await onDispatch();
      return { kind: "accepted" };
    case "delivered":
      await onDispatch();
      return { kind: "applied", observed: observedOf(desired) };
    case "failed":
      return { kind: "error", code: state.error.code, message: state.error.message };
    case "cancelled":
      return { kind: "error", code: "cancelled", message: state.reason };
    default:
      return assertNever(state);
  }
}

function withdrawGeneration(deps: SessionDeps, sessionId: SessionId, generation: GoalProvenance): void {
  for (const message of deps.messages.queued(sessionId)) {
    if (message.goal?.generation.operationId !== generation.operationId) continue;
    withdrawMessage(deps, message, "its goal was revoked");
  }
}
