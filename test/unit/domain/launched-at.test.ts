import fc from "fast-check";
import { expect, test } from "vitest";
import { launchedAtMs } from "../../../src/domain/launched-at.ts";
import { aSession, T0_MS } from "../../support/builders.ts";

test.each<[string, number | undefined, number]>([
  ["the first launch of a session began when the session was made", undefined, T0_MS],
  ["a later one when its restore began", T0_MS + 60_000, T0_MS + 60_000],
  ["one of a clock that was set back when that clock said", T0_MS - 60_000, T0_MS - 60_000],
])("%s", (_what, restoredAtMs, expected) => {
  const record = aSession({ createdAtMs: T0_MS });
  const launched = restoredAtMs === undefined ? {} : { launchedAtMs: restoredAtMs };
  expect(launchedAtMs({ ...record, metadata: { ...record.metadata, ...launched } })).toBe(expected);
});

test("a launch began at the time of its restore, and without one at that of its session", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.option(fc.nat()), (createdAtMs, updatedAtMs, restoredAtMs) => {
      const record = aSession({ createdAtMs, updatedAtMs });
      const launched = restoredAtMs === null ? {} : { launchedAtMs: restoredAtMs };
      const found = launchedAtMs({ ...record, metadata: { ...record.metadata, ...launched } });
      expect(found).toBe(restoredAtMs ?? createdAtMs);
    }),
  );
});
