import { describe, expect, test } from "vitest";
import type { Scenario } from "./driver.ts";
import { hostDriver } from "./host-driver.ts";
import { stackHost } from "./stack-host.ts";

/** Runs those scenarios on the whole stack that fit it. */
export function runOnStack(scenarios: readonly Scenario[]): void {
  describe("on the whole stack, with the embedded agent in tmux", () => {
    const fitting = scenarios.filter(({ needsNative, isLong }) => needsNative !== true && isLong !== true);
    test.each(fitting.map((one) => [one.name, one] as const))("%s", async (_name, scenario) => {
      const driver = hostDriver(await stackHost());
      await scenario.run(driver);
      const { typed } = driver.metrics();
      expect(new Set(typed).size).toBe(typed.length);
    });
  });
}
