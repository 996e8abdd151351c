import { describe, expect, test } from "vitest";
import { GOAL_CRASHES, sweepGoals } from "./goal-sweep.ts";

describe("a command about a goal, killed by SIGKILL at each of its boundaries", () => {
  test.each(GOAL_CRASHES.map((scenario) => [scenario.name, scenario] as const))(
    "%s: converges, nothing is typed twice, and nothing of a revoked goal is typed",
    async (_name, scenario) => {
      expect(await sweepGoals(scenario)).toBeGreaterThan(3);
    },
  );
});
