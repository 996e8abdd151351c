import type { GoalObserved } from "../../domain/goal.ts";
import type { GoalAnswer, GoalOrder, GoalRuntime } from "../../ports/goal-runtime.ts";

/** An agent that keeps goals by itself, in memory, with what a test may set about it. */
export interface MemoryGoalRuntime extends GoalRuntime {
  /** What orders are answered with from now on; without, they are followed at once. */
  answer(answer: ((order: GoalOrder) => Promise<GoalAnswer> | GoalAnswer) | null): void;
}

export interface MemoryGoalOptions {
  /** Both false when not given: the careful answer. */
  readonly replaysAfterRestart?: boolean;
  readonly keepsOrder?: boolean;
}

/** A goal runtime whose agent follows every order, unless it is told otherwise. */
export function memoryGoalRuntime(options: MemoryGoalOptions = {}): MemoryGoalRuntime {
  let answered: ((order: GoalOrder) => Promise<GoalAnswer> | GoalAnswer) | null = null;
  return {
    replaysAfterRestart: options.replaysAfterRestart ?? false,
    keepsOrder: options.keepsOrder ?? false,
    answer: (next) => {
      answered = next;
    },
    async control(order) {
      await order.onDispatch();
      return answered === null ? { kind: "applied", observed: followed(order) } : answered(order);
    },
    fence: async () => ({ kind: "installed" }),
  };
}

function followed({ desired }: GoalOrder): GoalObserved | null {
  return desired && { objective: desired.objective, status: desired.status, detail: null };
}
