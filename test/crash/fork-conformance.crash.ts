import { describe, test } from "vitest";
import { FORK_SCENARIOS } from "../conformance/forks/scenarios.ts";
import { stackForkDriver } from "../conformance/forks/stack-driver.ts";

describe("forks of the whole stack", () => {
  test.each(FORK_SCENARIOS)("$name", ({ run }) => run(stackForkDriver()), 120_000);
});
