import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { factSources } from "../../../src/domain/fact-sources.ts";
import { type CanonicalLifecycle, isTerminal } from "../../../src/domain/lifecycle.ts";
import { aKilledLifecycle, aLifecycle, aWorkingLifecycle, T0_MS } from "../../support/builders.ts";
import { anyLifecycle } from "./arbitraries.ts";

const AT_START = { nowMs: T0_MS, launchedAtMs: T0_MS };
const heard = (
  state: CanonicalLifecycle["activity"]["state"],
  source: CanonicalLifecycle["activity"]["source"] = "hook",
) => ({ state, source, lastActivityAtMs: T0_MS });
const merged = { state: "merged", reason: "merged", number: 1, url: "https://example.org/1" } as const;

describe("the state of a session is from", () => {
  test.each<[string, Partial<CanonicalLifecycle>]>([
    ["request", {}],
    ["hook", { ...aWorkingLifecycle(), activity: heard("active") }],
    ["native", { ...aWorkingLifecycle(), activity: heard("active", "native") }],
    ["terminal", { session: { state: "idle", reason: null }, activity: heard("idle", "terminal") }],
    [
      "hook",
      { session: { state: "needs_input", reason: "awaiting_user_input" }, activity: heard("waiting_input") },
    ],
    ["hook", { session: { state: "stuck", reason: "awaiting_user_input" }, activity: heard("blocked") }],
    ["hook", { session: { state: "idle", reason: "research_complete" }, activity: heard("exited") }],
    ["runtime", aWorkingLifecycle()],
    ["runtime", { ...aWorkingLifecycle(), activity: heard("idle") }],
    [
      "runtime",
      { session: { state: "detecting", reason: "agent_process_exited" }, activity: heard("active") },
    ],
    ["runtime", { session: { state: "stuck", reason: "probe_failure" }, activity: heard("active") }],
    ["runtime", { session: { state: "terminated", reason: "runtime_lost" }, activity: heard("idle") }],
    ["request", { ...aKilledLifecycle(), activity: heard("active") }],
    ["request", { session: { state: "terminated", reason: "auto_cleanup" } }],
    ["pull_request", { session: { state: "idle", reason: "merged_waiting_decision" }, pr: merged }],
    [
      "pull_request",
      { session: { state: "idle", reason: "awaiting_user_input" }, pr: merged, activity: heard("active") },
    ],
    ["pull_request", { session: { state: "terminated", reason: "pr_merged" }, pr: merged }],
  ])("%s where %j", (source, patch) => {
    expect(factSources(aLifecycle(patch), AT_START).session.source).toBe(source);
  });
});

test.each([
  ["spawn_incomplete", "unknown", "request"],
  ["process_running", "alive", "runtime"],
  ["process_missing", "exited", "runtime"],
  ["tmux_missing", "missing", "runtime"],
  ["probe_error", "probe_failed", "runtime"],
  ["manual_kill_requested", "exited", "request"],
  ["auto_cleanup", "exited", "request"],
  ["pr_merged_cleanup", "exited", "request"],
] as const)("a runtime of which is said %s is %s, from %s", (reason, state, source) => {
  expect(factSources(aLifecycle({ runtime: { state, reason } }), AT_START).runtime).toEqual({
    state,
    source,
  });
});

test.each([
  ["hook", "high"],
  ["native", "high"],
  ["terminal", "low"],
  ["runtime", "low"],
  ["none", "none"],
] as const)("activity from %s is worth %s confidence", (source, confidence) => {
  const { activity } = factSources(aLifecycle({ activity: heard("idle", source) }), AT_START);
  expect(activity).toEqual({ state: "idle", source, confidence, at: "2026-01-02T03:04:05.678Z" });
});

describe("that an agent said nothing at all", () => {
  const since = "2026-01-02T03:04:05.678Z";
  const forgotten = { state: null, source: "none", lastActivityAtMs: T0_MS - 1 } as const;

  test.each<[string, Partial<CanonicalLifecycle>, number, string | null]>([
    ["is not told within 90 s", {}, 89_999, null],
    ["is told from 90 s on", {}, 90_000, since],
    ["is told of one whose process runs", aWorkingLifecycle(), 90_000, since],
    ["is told of a launch whose predecessor spoke", { activity: forgotten }, 90_000, since],
    ["is not told of one that spoke long ago", { activity: heard("active") }, 86_400_000, null],
    ["is not told of one that is over", aKilledLifecycle(), 90_000, null],
    ["is not told when the clock was set back", {}, -90_000, null],
  ])("%s", (_what, patch, afterMs, silentSince) => {
    const moment = { nowMs: T0_MS + afterMs, launchedAtMs: T0_MS };
    expect(factSources(aLifecycle(patch), moment)).toMatchObject({ silentSince });
  });
});

test("facts repeat what the lifecycle says, and call no agent silent that was heard from", () => {
  fc.assert(
    fc.property(anyLifecycle, fc.nat(), (lifecycle, afterMs) => {
      const facts = factSources(lifecycle, { nowMs: T0_MS + afterMs, launchedAtMs: T0_MS });
      expect(facts.session.state).toBe(lifecycle.session.state);
      expect(facts.runtime.state).toBe(lifecycle.runtime.state);
      expect(facts.activity).toMatchObject({
        state: lifecycle.activity.state,
        source: lifecycle.activity.source,
      });
      if (facts.silentSince !== null) {
        expect(isTerminal(lifecycle) || lifecycle.activity.state !== null).toBe(false);
      }
    }),
  );
});
