import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  activityFromOutput,
  isRecentlyActive,
  isSticky,
  sessionForActivity,
} from "../../../src/domain/activity.ts";
import { ACTIVITY_STATES, type ActivityState, type SessionSubstate } from "../../../src/domain/lifecycle.ts";
import { launchId, T0_MS } from "../../support/builders.ts";

const LAUNCH = launchId("launch-1");

describe("sessionForActivity", () => {
  test.each<[ActivityState, SessionSubstate | null]>([
    ["active", { state: "working", reason: "task_in_progress" }],
    ["ready", { state: "idle", reason: "research_complete" }],
    ["idle", { state: "idle", reason: null }],
    ["waiting_input", { state: "needs_input", reason: "awaiting_user_input" }],
    ["blocked", { state: "stuck", reason: "awaiting_user_input" }],
    ["exited", null],
  ])("%s", (state, session) => {
    expect(sessionForActivity(state)).toEqual(session);
  });
});

describe("isRecentlyActive", () => {
  const heard = (state: ActivityState | null, lastActivityAtMs: number | null) =>
    isRecentlyActive({ state, lastActivityAtMs, source: "hook" }, T0_MS);

  test.each(["active", "ready", "idle"] as const)(
    "%s counts for 60 s and not a millisecond more",
    (state) => {
      expect(heard(state, T0_MS - 60_000)).toBe(true);
      expect(heard(state, T0_MS - 60_001)).toBe(false);
    },
  );

  test.each(["waiting_input", "blocked"] as const)("%s counts however long ago", (state) => {
    expect(heard(state, 0)).toBe(true);
    expect(heard(state, null)).toBe(true);
  });

  test("an agent that said it exited does not count, however fresh", () => {
    expect(heard("exited", T0_MS)).toBe(false);
  });

  test("an agent that was never heard from does not count", () => {
    expect(heard(null, null)).toBe(false);
    expect(heard("active", null)).toBe(false);
  });

  test("an agent heard from up to 60 s ahead counts: a clock may go back a little", () => {
    expect(heard("active", T0_MS + 60_000)).toBe(true);
  });

  test("one heard from an hour ahead does not: that was before the clock was set back", () => {
    expect(heard("active", T0_MS + 3_600_000)).toBe(false);
    expect(heard("waiting_input", T0_MS + 3_600_000)).toBe(true);
  });
});

describe("isSticky", () => {
  test("only waits for a person are sticky", () => {
    expect(ACTIVITY_STATES.filter(isSticky)).toEqual(["waiting_input", "blocked"]);
    expect(isSticky(null)).toBe(false);
  });
});

describe("activityFromOutput", () => {
  test("output within 60 s is active", () => {
    expect(activityFromOutput(T0_MS - 60_000, T0_MS, LAUNCH)).toEqual({
      state: "active",
      confidence: "valid",
      source: "runtime",
      atMs: T0_MS - 60_000,
      launchId: LAUNCH,
    });
  });

  test("older output is idle since that output", () => {
    expect(activityFromOutput(T0_MS - 60_001, T0_MS, LAUNCH)).toMatchObject({
      state: "idle",
      confidence: "valid",
      atMs: T0_MS - 60_001,
    });
  });

  test("output of an hour ahead was before the clock was set back: idle since", () => {
    const atMs = T0_MS + 3_600_000;
    expect(activityFromOutput(atMs, T0_MS, LAUNCH)).toMatchObject({ state: "idle", atMs });
    expect(activityFromOutput(T0_MS + 60_000, T0_MS, LAUNCH)).toMatchObject({ state: "active" });
  });

  test("a terminal that tells no time gives a signal that does not count", () => {
    expect(activityFromOutput(null, T0_MS, LAUNCH)).toMatchObject({ state: "idle", confidence: "null" });
  });

  test("a quiet terminal gives the same signal at every later look", () => {
    const anAge = fc.integer({ min: 60_001, max: 10 ** 9 });
    fc.assert(
      fc.property(anAge, anAge, (one, other) => {
        expect(activityFromOutput(T0_MS, T0_MS + one, LAUNCH)).toEqual(
          activityFromOutput(T0_MS, T0_MS + other, LAUNCH),
        );
      }),
    );
  });
});
