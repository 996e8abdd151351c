import { describe, expect, test } from "vitest";
import { CRASH_SCENARIOS } from "./crash-scenarios.ts";
import { sweep } from "./every-boundary.ts";

describe("a command killed by SIGKILL at each of its boundaries", () => {
  const rows = CRASH_SCENARIOS.map((scenario) => [scenario.name, scenario] as const);
  test.each(rows)("%s: is finished or taken back by one reconcile", async (_name, scenario) => {
    expect(await sweep(scenario)).toBeGreaterThan(5);
  });
});
