import { describe, test } from "vitest";
import { SWEEP_SCENARIOS } from "./transcript-scenarios.ts";
import { expectSwept } from "./transcript-sweep.ts";

/** A quarter of the boundaries, another quarter for each change; `npm run test:crash` has them all. */
const STEP = 4;

describe("a transcript whose writer meets a fault at some of its boundaries", () => {
  const rows = SWEEP_SCENARIOS.map(
    (scenario, index) => [scenario.name, scenario, 1 + (index % STEP)] as const,
  );
  test.each(rows)("%s: is the old or the new, and goes on from there", async (_name, scenario, first) => {
    await expectSwept(scenario, { first, step: STEP });
  });
});
