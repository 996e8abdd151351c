import { expect, test } from "vitest";
import { sweepFirst } from "./first-spawn.ts";

test("the first spawn of all, killed at each boundary, leaves no project without a session", async () => {
  expect(await sweepFirst({ first: 1, step: 1 })).toBeGreaterThan(15);
});
