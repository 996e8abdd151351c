import { describe, expect, test } from "vitest";
import { childProgram, KILL_SCENARIOS, killEach } from "./transcript-kill.ts";

describe("a process that is killed by SIGKILL at any boundary of a change of a transcript", () => {
  const rows = KILL_SCENARIOS.map((scenario) => [scenario.name, scenario] as const);
  test.each(rows)("%s: leaves the old or the new, and the next goes on", async (_name, scenario) => {
    expect(await killEach(scenario, await childProgram())).toBeGreaterThan(10);
  });
});
