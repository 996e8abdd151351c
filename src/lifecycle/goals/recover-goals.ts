import { isTerminal } from "../../domain/lifecycle.ts";
import type { Operation } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import { operationLedger } from "../operations/ledger.ts";
import type { TakeOverReport } from "../operations/take-over.ts";
import { actionOf } from "./goal-progress.ts";
import { stepControl } from "./step-control.ts";
import { stepFence } from "./step-fence.ts";

const RECOVERING = { recovering: true };

/** Whether an operation is a goal's. */
export function isGoalWork({ kind }: Pick<Operation, "kind">): boolean {
  return kind === "goal_control" || kind === "goal_fence";
}

/**
 * Takes over what is unfinished of goals: first all fences, whose backoff does not count, then the orders. After
 * the operations that have their session for themselves, and after the cancellations.
 */
export async function recoverGoals(deps: SessionDeps): Promise<TakeOverReport> {
  const { operations } = deps.operations.unfinished();
  if (!operations.some(isGoalWork)) return { taken: [], errors: [] };
  const ledger = operationLedger(deps);
  const fences = await ledger.takeOver((held) => stepFence(deps, held, RECOVERING).then(() => undefined), {
    chosen: ({ kind }) => kind === "goal_fence",
    evenIfNotDue: true,
  });
  const orders = await ledger.takeOver((held) => stepControl(deps, held, RECOVERING).then(() => undefined), {
    chosen: (operation) => operation.kind === "goal_control" && !waitsForPerson(deps, operation),
  });
  return { taken: [...fences.taken, ...orders.taken], errors: [...fences.errors, ...orders.errors] };
}

/** A goal of a session that is over begins when a person restores that. */
function waitsForPerson(deps: SessionDeps, operation: Operation): boolean {
  const record = operation.sessionId === null ? undefined : deps.store.get(operation.sessionId);
  if (record === undefined || !isTerminal(record.lifecycle)) return false;
  const action = actionOf(operation);
  return action === "set" || action === "resume";
}
