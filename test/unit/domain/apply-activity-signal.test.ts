import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { activityFromOutput } from "../../../src/domain/activity.ts";
import { applyActivitySignal } from "../../../src/domain/apply-activity-signal.ts";
import { type ActivitySignal, SIGNAL_CONFIDENCES } from "../../../src/domain/facts.ts";
import {
  ACTIVITY_STATES,
  type ActivityState,
  type CanonicalLifecycle,
  isTerminal,
  type SessionState,
  type SessionSubstate,
} from "../../../src/domain/lifecycle.ts";
import { aLifecycle, anActivitySignal, aWorkingLifecycle, launchId, T0_MS } from "../../support/builders.ts";
import { anyLifecycle, anySignal } from "./arbitraries.ts";

const LAUNCH = launchId("launch-1");
/** Later than any time that is heard of. */
const NOW_MS = T0_MS + 24 * 3_600_000;

function heard(lifecycle: CanonicalLifecycle, signal: Partial<ActivitySignal>, nowMs = NOW_MS) {
  return applyActivitySignal(lifecycle, anActivitySignal(signal), { launchId: LAUNCH, nowMs });
}

const MEANING: readonly (readonly [ActivityState, SessionSubstate | null])[] = [
  ["active", { state: "working", reason: "task_in_progress" }],
  ["ready", { state: "idle", reason: "research_complete" }],
  ["idle", { state: "idle", reason: null }],
  ["waiting_input", { state: "needs_input", reason: "awaiting_user_input" }],
  ["blocked", { state: "stuck", reason: "awaiting_user_input" }],
  ["exited", null],
];

describe("a valid signal of the current launch", () => {
  test.each(MEANING)("%s is written, the first one ends spawning", (state, session) => {
    const before = aLifecycle();
    const after = heard(before, { state });
    expect(after.session).toEqual(session ?? before.session);
    expect(after.activity).toEqual({ state, lastActivityAtMs: T0_MS, source: "hook" });
    expect(after.revision).toBe(before.revision);
  });

  test.each(MEANING)("%s lifts a session out of detecting, but for an exit", (state, session) => {
    const before = aWorkingLifecycle({
      session: { state: "detecting", reason: "runtime_lost" },
      detecting: { attempts: 1, startedAtMs: T0_MS, evidenceHash: "x" },
    });
    const after = heard(before, { state });
    expect(after.session).toEqual(session ?? before.session);
    expect(after.detecting).toEqual(session === null ? before.detecting : null);
  });

  test.each(["runtime_lost", "agent_process_exited", "probe_failure"] as const)(
    "none lifts a session out of a stuck for %s, it is only remembered",
    (reason) => {
      const memory = { attempts: 3, startedAtMs: T0_MS, evidenceHash: "x" };
      const before = aWorkingLifecycle({ session: { state: "stuck", reason }, detecting: memory });
      for (const state of ACTIVITY_STATES) {
        const after = heard(before, { state });
        expect(after).toEqual({ ...before, activity: { state, lastActivityAtMs: T0_MS, source: "hook" } });
      }
    },
  );

  test("active lifts a session out of a stuck that its agent had reported", () => {
    const before = aWorkingLifecycle({ session: { state: "stuck", reason: "awaiting_user_input" } });
    expect(heard(before, { state: "active" }).session.state).toBe("working");
  });

  test("one that is older counts when the last lies ahead of now: the clock was set back", () => {
    const before = heard(aLifecycle(), { state: "active" });
    const nowMs = T0_MS - 3_600_000;
    const after = heard(before, { state: "waiting_input", atMs: nowMs }, nowMs);
    expect(after.session.state).toBe("needs_input");
    expect(after.activity.lastActivityAtMs).toBe(nowMs);
    expect(heard(after, { state: "active", atMs: nowMs - 1 }, nowMs)).toBe(after);
  });

  test.each<SessionState>(["done", "terminated"])("none changes a session that is %s", (state) => {
    const before = aLifecycle({ session: { state, reason: "manually_killed" } });
    for (const heardState of ACTIVITY_STATES) expect(heard(before, { state: heardState })).toBe(before);
  });
});

describe("a signal that does not count", () => {
  test.each(SIGNAL_CONFIDENCES.filter((confidence) => confidence !== "valid"))(
    "one of confidence %s changes nothing",
    (confidence) => {
      const before = aLifecycle();
      expect(heard(before, { confidence })).toBe(before);
    },
  );

  test("one of another launch changes nothing", () => {
    const before = aLifecycle();
    expect(heard(before, { launchId: launchId("launch-0") })).toBe(before);
  });

  test("an older one changes nothing, one of the same moment counts", () => {
    const before = heard(aLifecycle(), { state: "active" });
    expect(heard(before, { state: "idle", atMs: T0_MS - 1 })).toBe(before);
    expect(heard(before, { state: "idle", atMs: T0_MS }).session.state).toBe("idle");
  });

  test("one that says what is remembered already lifts no session out of doubt", () => {
    const before = aWorkingLifecycle({
      session: { state: "detecting", reason: "runtime_lost" },
      activity: { state: "active", lastActivityAtMs: T0_MS, source: "hook" },
      detecting: { attempts: 1, startedAtMs: T0_MS, evidenceHash: "x" },
    });
    expect(heard(before, { state: "active" })).toBe(before);
    expect(heard(before, { state: "ready" }).session.state).toBe("idle");
    expect(heard(before, { state: "active", atMs: T0_MS + 1 }).session.state).toBe("working");
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1, -1])(
    "one at %s, which is no time",
    (atMs) => {
      const before = aLifecycle();
      expect(heard(before, { atMs })).toBe(before);
    },
  );

  test.each(["waiting_input", "blocked"] as const)("silence of the terminal never ends %s", (state) => {
    const before = heard(aWorkingLifecycle(), { state });
    const silence = activityFromOutput(T0_MS + 1, T0_MS + 3_600_000, LAUNCH);
    expect(silence).toMatchObject({ state: "idle", confidence: "valid" });
    expect(heard(before, silence)).toBe(before);
  });

  test.each(["waiting_input", "blocked"] as const)("the agent itself ends %s", (state) => {
    const before = heard(aWorkingLifecycle(), { state });
    expect(heard(before, { state: "idle", source: "hook" }).session).toEqual({ state: "idle", reason: null });
    expect(heard(before, { state: "active" }).session.state).toBe("working");
  });
});

describe("whatever was stored and heard", () => {
  const apply = (lifecycle: CanonicalLifecycle, signals: readonly ActivitySignal[]) =>
    signals.reduce((current, signal) => heard(current, signal), lifecycle);

  test("time never goes backwards", () => {
    fc.assert(
      fc.property(anyLifecycle, fc.array(anySignal), (lifecycle, signals) => {
        const before = lifecycle.activity.lastActivityAtMs ?? 0;
        expect(apply(lifecycle, signals).activity.lastActivityAtMs ?? 0).toBeGreaterThanOrEqual(before);
      }),
    );
  });

  test("the same signal again changes nothing", () => {
    fc.assert(
      fc.property(anyLifecycle, anySignal, (lifecycle, signal) => {
        const once = apply(lifecycle, [signal]);
        expect(apply(once, [signal])).toBe(once);
      }),
    );
  });

  test("no signal ends a session or reopens one", () => {
    fc.assert(
      fc.property(anyLifecycle, fc.array(anySignal), (lifecycle, signals) => {
        expect(isTerminal(apply(lifecycle, signals))).toBe(isTerminal(lifecycle));
      }),
    );
  });

  test("runtime, pull request, version and revision are never touched", () => {
    fc.assert(
      fc.property(anyLifecycle, anySignal, (lifecycle, signal) => {
        const { runtime, pr, version, revision } = lifecycle;
        expect(apply(lifecycle, [signal])).toMatchObject({ runtime, pr, version, revision });
      }),
    );
  });
});
