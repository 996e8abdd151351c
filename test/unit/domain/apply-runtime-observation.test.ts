import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyRuntimeObservation } from "../../../src/domain/apply-runtime-observation.ts";
import type { RuntimeObservation } from "../../../src/domain/facts.ts";
import type {
  ActivityMemory,
  ActivityState,
  CanonicalLifecycle,
  RuntimeSubstate,
  SessionSubstate,
} from "../../../src/domain/lifecycle.ts";
import { isTerminal } from "../../../src/domain/lifecycle.ts";
import {
  aKilledLifecycle,
  aLifecycle,
  anObservation,
  aWorkingLifecycle,
  T0_MS,
} from "../../support/builders.ts";
import { anyLifecycle, anyObservation, aTimeMs } from "./arbitraries.ts";

const digest = (text: string) => `digest of ${text}`;

function seen(lifecycle: CanonicalLifecycle, observation: RuntimeObservation, nowMs = T0_MS) {
  return applyRuntimeObservation(lifecycle, observation, { nowMs, digest });
}

function heard(state: ActivityState, agoMs: number): ActivityMemory {
  return { state, lastActivityAtMs: T0_MS - agoMs, source: "hook" };
}

const HEALTHY = anObservation();
const LOST = anObservation({ runtime: { kind: "missing" }, process: { kind: "indeterminate" } });
const DEAD = anObservation({ runtime: { kind: "missing" }, process: { kind: "dead" } });
const AGENT_EXITED = anObservation({ process: { kind: "dead" } });
const FAILED = anObservation({ runtime: { kind: "probe_failed", cause: "no answer" } });

describe("the runtime substate", () => {
  test.each<[string, Partial<RuntimeObservation>, RuntimeSubstate]>([
    ["alive", {}, { state: "alive", reason: "process_running" }],
    [
      "alive, process unsure",
      { process: { kind: "indeterminate" } },
      { state: "alive", reason: "process_running" },
    ],
    [
      "alive without its process",
      { process: { kind: "dead" } },
      { state: "alive", reason: "process_missing" },
    ],
    [
      "exited",
      { runtime: { kind: "exited", exitStatus: 1, signal: null } },
      { state: "exited", reason: "process_missing" },
    ],
    ["missing", { runtime: { kind: "missing" } }, { state: "missing", reason: "tmux_missing" }],
    ["unknown", { runtime: { kind: "unknown" } }, { state: "unknown", reason: "probe_error" }],
    [
      "a failed look",
      { runtime: { kind: "probe_failed", cause: "no answer" } },
      { state: "probe_failed", reason: "probe_error" },
    ],
  ])("%s is written, of a terminal session too", (_seen, facts, expected) => {
    expect(seen(aLifecycle(), anObservation(facts)).runtime).toEqual(expected);
    const killed = aKilledLifecycle({ runtime: { state: "unknown", reason: "spawn_incomplete" } });
    expect(seen(killed, anObservation(facts)).runtime).toEqual(expected);
  });

  test("a runtime found exited as it was left keeps why it was ended", () => {
    const killed = aKilledLifecycle();
    const exited = anObservation({ runtime: { kind: "exited", exitStatus: 0, signal: null } });
    expect(seen(killed, exited)).toBe(killed);
  });
});

describe("doubt and death", () => {
  const owned: readonly (readonly [string, SessionSubstate])[] = [
    ["not_started", { state: "not_started", reason: "spawn_requested" }],
    ["working", { state: "working", reason: "task_in_progress" }],
    ["idle", { state: "idle", reason: null }],
    ["needs_input", { state: "needs_input", reason: "awaiting_user_input" }],
    ["stuck by its agent", { state: "stuck", reason: "awaiting_user_input" }],
  ];

  test.each(owned)("a doubtful look puts a session that is %s in doubt", (_what, session) => {
    const after = seen(aLifecycle({ session }), AGENT_EXITED);
    expect(after.session).toEqual({ state: "detecting", reason: "agent_process_exited" });
    expect(after.detecting).toMatchObject({ attempts: 1, startedAtMs: T0_MS });
  });

  test.each(owned)("a deadly look ends a session that is %s", (_what, session) => {
    const after = seen(aLifecycle({ session }), DEAD);
    expect(after.session).toEqual({ state: "terminated", reason: "runtime_lost" });
    expect(after.detecting).toBeNull();
  });

  test.each(owned)("a healthy look leaves a session that is %s to its agent", (_what, session) => {
    expect(seen(aWorkingLifecycle({ session }), HEALTHY).session).toEqual(session);
  });

  test("a dead runtime of an agent heard from within 60 s is doubt, later it is death", () => {
    const lifecycle = aWorkingLifecycle({ activity: heard("active", 0) });
    const doubt = seen(lifecycle, DEAD, T0_MS + 60_000);
    expect(doubt.session).toEqual({ state: "detecting", reason: "runtime_lost" });
    const death = seen(doubt, DEAD, T0_MS + 60_001);
    expect(death.session).toEqual({ state: "terminated", reason: "runtime_lost" });
    expect(death.detecting).toBeNull();
  });

  test("an agent that waits for a person is not inferred dead from silence", () => {
    const lifecycle = aWorkingLifecycle({ activity: heard("waiting_input", 3_600_000) });
    expect(seen(lifecycle, DEAD).session.state).toBe("detecting");
  });

  test.each<ActivityState>(["active", "ready", "idle", "waiting_input", "blocked"])(
    "one look ends a session whose boot is over, though its agent was last heard %s just now",
    (state) => {
      const boot = anObservation({
        runtime: { kind: "missing" },
        process: { kind: "dead", ofAnotherBoot: true },
      });
      const after = seen(aWorkingLifecycle({ activity: heard(state, 0) }), boot);
      expect(after.session).toEqual({ state: "terminated", reason: "runtime_lost" });
      expect(after.detecting).toBeNull();
    },
  );

  test("three equal looks are stuck, and more of them change nothing", () => {
    const first = seen(aWorkingLifecycle(), LOST, T0_MS);
    const second = seen(first, LOST, T0_MS + 1_000);
    const third = seen(second, LOST, T0_MS + 2_000);
    expect([first, second, third].map(({ session }) => session.state)).toEqual([
      "detecting",
      "detecting",
      "stuck",
    ]);
    expect(third.session.reason).toBe("runtime_lost");
    expect(third.detecting).toMatchObject({ attempts: 3, startedAtMs: T0_MS });
    expect(seen(third, LOST, T0_MS + 3_000)).toBe(third);
  });

  test("evidence is composed of what was seen, without the times of it", () => {
    const failedAt = (time: string) =>
      anObservation({ runtime: { kind: "probe_failed", cause: `no answer since ${time}` } });
    const first = seen(aWorkingLifecycle(), failedAt("2026-01-02T03:04:05.678Z"));
    const second = seen(first, failedAt("2026-01-02T03:05:05.678Z"));
    expect(second.detecting?.attempts).toBe(2);
    const moved = seen(second, LOST);
    expect(moved.detecting?.attempts).toBe(1);
  });

  test.each<[string, Partial<RuntimeObservation>, Partial<RuntimeObservation>]>([
    [
      "another exit status",
      { runtime: { kind: "exited", exitStatus: 1, signal: null } },
      { runtime: { kind: "exited", exitStatus: 2, signal: null } },
    ],
    [
      "a signal",
      { runtime: { kind: "exited", exitStatus: null, signal: null } },
      { runtime: { kind: "exited", exitStatus: null, signal: "SIGKILL" } },
    ],
    [
      "another cause of the failed process look",
      { process: { kind: "probe_failed", cause: "one" } },
      { process: { kind: "probe_failed", cause: "other" } },
    ],
    ["another runtime", { runtime: { kind: "missing" } }, { runtime: { kind: "unknown" } }],
  ])("%s is other evidence", (_what, one, other) => {
    const doubtful = { process: { kind: "alive" } } as const;
    const first = seen(aWorkingLifecycle(), anObservation({ ...doubtful, ...one }));
    const second = seen(first, anObservation({ ...doubtful, ...other }));
    expect([first.detecting?.attempts, second.detecting?.attempts]).toEqual([1, 1]);
  });
});

describe("recovery", () => {
  const memory = { attempts: 2, startedAtMs: T0_MS, evidenceHash: "x" };

  test.each<[string, SessionSubstate]>([
    ["detecting", { state: "detecting", reason: "runtime_lost" }],
    ["detecting for any reason", { state: "detecting", reason: null }],
    ["stuck by a lost runtime", { state: "stuck", reason: "runtime_lost" }],
    ["stuck by an exited agent", { state: "stuck", reason: "agent_process_exited" }],
    ["stuck by failed looks", { state: "stuck", reason: "probe_failure" }],
  ])("a healthy look takes back %s and clears the memory of doubt", (_what, session) => {
    const after = seen(aWorkingLifecycle({ session, detecting: memory }), HEALTHY);
    expect(after.session).toEqual({ state: "working", reason: "task_in_progress" });
    expect(after.detecting).toBeNull();
  });

  test.each<[ActivityState, SessionSubstate]>([
    ["active", { state: "working", reason: "task_in_progress" }],
    ["ready", { state: "idle", reason: "research_complete" }],
    ["idle", { state: "idle", reason: null }],
    ["waiting_input", { state: "needs_input", reason: "awaiting_user_input" }],
    ["blocked", { state: "stuck", reason: "awaiting_user_input" }],
    ["exited", { state: "working", reason: "task_in_progress" }],
  ])("a failed look in between does not change what an agent last heard %s is", (state, expected) => {
    const before = aWorkingLifecycle({ session: expected, activity: heard(state, 3_600_000) });
    const doubt = seen(before, FAILED);
    expect(doubt.session.state).toBe("detecting");
    expect(seen(doubt, HEALTHY)).toEqual(before);
  });

  test("a verdict without doubt clears a memory that was left behind", () => {
    const after = seen(aWorkingLifecycle({ detecting: memory }), HEALTHY);
    expect(after.detecting).toBeNull();
  });
});

describe("whatever was stored and seen", () => {
  test("of a terminal session only the runtime substate changes", () => {
    fc.assert(
      fc.property(anyLifecycle.filter(isTerminal), anyObservation, aTimeMs, (lifecycle, look, nowMs) => {
        const { runtime: _before, ...before } = lifecycle;
        const { runtime: _after, ...after } = seen(lifecycle, look, nowMs);
        expect(after).toEqual(before);
      }),
    );
  });

  test("a failed look never ends a session", () => {
    const aFailedLook = anyObservation.filter(
      ({ runtime, process }) => runtime.kind === "probe_failed" || process.kind === "probe_failed",
    );
    fc.assert(
      fc.property(anyLifecycle, fc.array(aFailedLook), aTimeMs, (lifecycle, looks, nowMs) => {
        const after = looks.reduce((current, look) => seen(current, look, nowMs), lifecycle);
        expect(isTerminal(after)).toBe(isTerminal(lifecycle));
      }),
    );
  });

  test("the same look again changes nothing but the attempts of doubt", () => {
    fc.assert(
      fc.property(anyLifecycle, anyObservation, aTimeMs, (lifecycle, look, nowMs) => {
        const once = seen(lifecycle, look, nowMs);
        const twice = seen(once, look, nowMs);
        if (once.detecting === null || isTerminal(once)) expect(twice).toBe(once);
        else expect(twice.runtime).toEqual(once.runtime);
        const settled = seen(seen(twice, look, nowMs), look, nowMs);
        expect(seen(settled, look, nowMs)).toBe(settled);
      }),
    );
  });

  test("activity, pull request, version and revision are never touched", () => {
    fc.assert(
      fc.property(anyLifecycle, anyObservation, aTimeMs, (lifecycle, look, nowMs) => {
        const { activity, pr, version, revision } = lifecycle;
        expect(seen(lifecycle, look, nowMs)).toMatchObject({ activity, pr, version, revision });
      }),
    );
  });
});
