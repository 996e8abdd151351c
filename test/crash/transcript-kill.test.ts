import { describe, expect, test } from "vitest";
import { childProgram, KILL_SCENARIOS, killEach } from "./transcript-kill.ts";

/** Some of the boundaries, others for each change; `npm run test:crash` has them all. */
const STEP = 9;

describe("a process that is killed by SIGKILL while it changes a transcript", () => {
  const rows = KILL_SCENARIOS.map((scenario, index) => [scenario.name, scenario, 5 + index] as const);
  test.each(rows)("%s: leaves the old or the new, and the next goes on", async (_name, scenario, first) => {
    expect(await killEach(scenario, await childProgram(), { first, step: STEP })).toBeGreaterThan(0);
  });
});
