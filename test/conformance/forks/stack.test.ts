import { describe, test } from "vitest";
import { PINNED_FORKS } from "./scenarios.ts";
import { stackForkDriver } from "./stack-driver.ts";

/** The others are part of `npm run test:crash`. */
describe("forks of the whole stack", () => {
  test.each(PINNED_FORKS)("$name", ({ run }) => run(stackForkDriver()), 60_000);
});
