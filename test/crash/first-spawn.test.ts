import { expect, test } from "vitest";
import { sweepFirst } from "./first-spawn.ts";

/** The rest of the boundaries is swept by `npm run test:crash`. */
test("the first spawn of all, killed at some boundaries, leaves no project without a session", async () => {
  expect(await sweepFirst({ first: 2, step: 7 })).toBeGreaterThan(1);
}, 120_000);
