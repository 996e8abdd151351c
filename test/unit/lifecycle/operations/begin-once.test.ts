import { expect, test } from "vitest";
import { type Busy, untilFree } from "../../../../src/lifecycle/operations/begin-once.ts";
import { T0_MS } from "../../../support/builders.ts";
import { aLeasedOperation } from "../../../support/operations.ts";

const BUSY: Busy = { kind: "busy", operation: aLeasedOperation() };

test.each([
  ["goes on", 0, 5_000],
  ["is set back by an hour meanwhile", -3_600_000, 5_000],
  ["jumps ahead by an hour meanwhile, as that of a machine that slept", 3_600_000, 200],
])("a wait for a busy session while the clock %s ends in time", async (_what, jumpMs, expectedMs) => {
  let sleptMs = 0;
  const clock = {
    nowMs: () => T0_MS + sleptMs + (sleptMs === 0 ? 0 : jumpMs),
    sleep: async (ms: number) => {
      sleptMs += ms;
    },
  };
  const waiting = untilFree({ clock }, 5_000, async () => BUSY);
  await expect(waiting).rejects.toMatchObject({ code: "operation_in_progress" });
  expect(sleptMs).toBe(expectedMs);
});
