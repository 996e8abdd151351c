import { describe, expect, test } from "vitest";
import { CRASH_SCENARIOS, type Place, type Subject } from "./crash-scenarios.ts";
import { sweep } from "./every-boundary.ts";

/** One boundary or two of each command, of another part of it each; `npm run test:crash` has them all. */
const STEP = 18;

test("a sweep over a command that crosses no boundary fails", async () => {
  const idle = { name: "list", arrange: async (_place: Place, subject: Subject) => subject };
  const sweeping = sweep({ ...idle, argv: () => ["list"], check: () => {} });
  await expect(sweeping).rejects.toThrow("list crosses no boundary");
});

describe("a command killed by SIGKILL at some of its boundaries", () => {
  const rows = CRASH_SCENARIOS.map((scenario, index) => [scenario.name, scenario, 3 + 2 * index] as const);
  test.each(rows)(
    "%s: is finished or taken back by one reconcile",
    async (_name, scenario, first) => {
      expect(await sweep(scenario, { first, step: STEP })).toBeGreaterThan(0);
    },
    120_000,
  );
});
