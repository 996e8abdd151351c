import { describe, expect, test } from "vitest";
import { CRASH_SCENARIOS } from "./crash-scenarios.ts";
import { sweep } from "./every-boundary.ts";

/** A tenth of the boundaries, another tenth for each command; `npm run test:crash` has them all. */
const STEP = 10;

describe("a command killed by SIGKILL at some of its boundaries", () => {
  const rows = CRASH_SCENARIOS.map((scenario, index) => [scenario.name, scenario, 3 + 2 * index] as const);
  test.each(rows)(
    "%s: is finished or taken back by one reconcile",
    async (_name, scenario, first) => {
      expect(await sweep(scenario, { first, step: STEP })).toBeGreaterThan(0);
    },
    120_000,
  );
});
