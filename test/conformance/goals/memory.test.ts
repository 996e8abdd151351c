import { describe, expect, test } from "vitest";
import { hostDriver } from "./host-driver.ts";
import { memoryHost } from "./memory-host.ts";
import { PINNED } from "./pinned-scenarios.ts";

describe.each(["native", "told"] as const)("on a host in memory, its agent %s of goals", (kind) => {
  test.each(PINNED.map((one) => [one.name, one] as const))("%s", async (_name, scenario) => {
    const host = await memoryHost(kind);
    await scenario.run(hostDriver(host));
    expect(host.deps.operations.unfinished().unreadable).toEqual([]);
  });
});
