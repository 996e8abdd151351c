import { describe, expect, test } from "vitest";
import { GOALS } from "./goal-scenarios.ts";
import { hostDriver } from "./host-driver.ts";
import { memoryHost } from "./memory-host.ts";
import { PINNED } from "./pinned-scenarios.ts";

const ALL = [...PINNED, ...GOALS];

test("each scenario has a name of its own", () => {
  expect(PINNED).toHaveLength(7);
  expect(new Set(ALL.map(({ name }) => name)).size).toBe(ALL.length);
});

describe.each(["native", "told"] as const)("on a host in memory, its agent %s of goals", (kind) => {
  const fitting = ALL.filter(({ needsNative }) => kind === "native" || needsNative !== true);
  test.each(fitting.map((one) => [one.name, one] as const))("%s", async (_name, scenario) => {
    const host = await memoryHost(kind);
    const driver = hostDriver(host);
    await scenario.run(driver);
    const { typed } = driver.metrics();
    expect(new Set(typed).size).toBe(typed.length);
  });
});
