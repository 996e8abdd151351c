import { describe, expect, test } from "vitest";
import { memoryForkDriver } from "./memory-driver.ts";
import { FORK_SCENARIOS } from "./scenarios.ts";

test("the scenarios have names of their own", () => {
  expect(new Set(FORK_SCENARIOS.map(({ name }) => name)).size).toBe(FORK_SCENARIOS.length);
});

describe("forks of the host in memory", () => {
  test.each(FORK_SCENARIOS)("$name", ({ run }) => run(memoryForkDriver()));
});
