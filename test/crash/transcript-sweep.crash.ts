import { describe, test } from "vitest";
import { SWEEP_SCENARIOS } from "./transcript-scenarios.ts";
import { expectSwept } from "./transcript-sweep.ts";

describe("a transcript whose writer meets a fault at any boundary", () => {
  const rows = SWEEP_SCENARIOS.map((scenario) => [scenario.name, scenario] as const);
  test.each(rows)("%s: is the old or the new, and goes on from there", async (_name, scenario) => {
    await expectSwept(scenario);
  });
});
