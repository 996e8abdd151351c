import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoffMs, isDue, isExpired, isTooLong, LEASE_MS } from "../../../src/domain/operation-schedule.ts";
import { T0_MS } from "../../support/builders.ts";
import { aLease } from "../../support/operations.ts";

describe("backoffMs", () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [4, 8],
    [8, 128],
    [9, 256],
    [10, 256],
    [2_000, 256],
  ])("attempt %i is followed by %i seconds", (attempt, seconds) => {
    expect(backoffMs(attempt)).toBe(seconds * 1_000);
  });
});

describe("isDue", () => {
  const prepared = { kind: "prepared", nextAttemptAtMs: T0_MS } as const;

  test.each([
    ["a millisecond before its time", T0_MS - 1, false],
    ["at its time", T0_MS, true],
    ["after its time", T0_MS + 1, true],
    ["as long before as the longest backoff", T0_MS - 256_000, false],
    ["an hour before, which no wait is: the clock was set back", T0_MS - 3_600_000, true],
  ])("%s", (_when, nowMs, expected) => {
    expect(isDue(prepared, nowMs)).toBe(expected);
  });

  test("a wait is over at its end and not before, whatever the attempt", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.nat({ max: 256_000 }), (attempt, elapsedMs) => {
        const waiting = { kind: "prepared", nextAttemptAtMs: T0_MS + backoffMs(attempt) } as const;
        expect(isDue(waiting, T0_MS + elapsedMs)).toBe(elapsedMs >= backoffMs(attempt));
      }),
    );
  });
});

describe("isExpired", () => {
  test.each([
    ["a millisecond before its end", T0_MS + LEASE_MS - 1, false],
    ["at its end", T0_MS + LEASE_MS, true],
  ])("%s", (_when, nowMs, expected) => {
    expect(isExpired(aLease({ expiresAtMs: T0_MS + LEASE_MS }), nowMs)).toBe(expected);
  });
});

describe("isTooLong", () => {
  test.each([
    ["at its beginning", T0_MS, false],
    ["at its end", T0_MS + LEASE_MS, false],
    ["before it began: the clock was set back", T0_MS - 1, true],
  ])("%s", (_when, nowMs, expected) => {
    expect(isTooLong(aLease({ expiresAtMs: T0_MS + LEASE_MS }), nowMs)).toBe(expected);
  });
});
