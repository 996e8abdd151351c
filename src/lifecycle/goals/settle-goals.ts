import { codeOf, errorMessage } from "../../domain/errors.ts";
import type { Operation } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import type { GoalsContinued } from "./continue-goals.ts";
import { generationOf } from "./goal-progress.ts";
import { goalMessageId } from "./goal-rows.ts";
import { tryPending } from "./settle-pending.ts";

/** Ends the orders whose message has just gone out of its queue, so that they need not wait for their next try. */
export async function settleGoals(deps: SessionDeps): Promise<Pick<GoalsContinued, "errors">> {
  const errors: GoalsContinued["errors"][number][] = [];
  for (const operation of deps.operations.unfinished().operations) {
    try {
      if (isSent(deps, operation)) await tryPending(deps, operation.id, { recovering: false });
    } catch (error) {
      const code = codeOf(error);
      errors.push({ subject: `goal of ${operation.sessionId}`, code, message: errorMessage(error) });
    }
  }
  return { errors };
}

function isSent({ messages, ids }: SessionDeps, operation: Operation): boolean {
  if (operation.kind !== "goal_control") return false;
  const message = messages.get(goalMessageId({ ids }, generationOf(operation), 1));
  return message !== undefined && message.state.kind !== "queued" && message.state.kind !== "delivering";
}
