import type { GoalCheckResult, GoalCheckRun, GoalCheckRunner } from "../../ports/goal-check.ts";

/** Commands that only answer, with what a test may set about them. */
export interface MemoryGoalChecks extends GoalCheckRunner {
  /** What they answer from now on, one after the other, the last one for ever; at first they end with 1. */
  answer(...results: readonly [GoalCheckResult, ...GoalCheckResult[]]): void;
  /** What was run, in order. */
  readonly runs: readonly GoalCheckRun[];
}

const FAILED: GoalCheckResult = { kind: "ended", exitCode: 1, output: "", isCut: false };

/** An in-memory twin of the command runner for goals. */
export function memoryGoalChecks(): MemoryGoalChecks {
  let results: readonly GoalCheckResult[] = [FAILED];
  const runs: GoalCheckRun[] = [];
  return {
    runs,
    answer: (...next) => {
      results = next;
    },
    async run(run) {
      runs.push(run);
      const [result = FAILED] = results;
      if (results.length > 1) results = results.slice(1);
      return result;
    },
  };
}
