import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyActivitySignal } from "../../../src/domain/apply-activity-signal.ts";
import { applyPullRequest } from "../../../src/domain/apply-pull-request.ts";
import type { PullRequestFacts } from "../../../src/domain/facts.ts";
import { isTerminal, SESSION_STATES, type SessionState } from "../../../src/domain/lifecycle.ts";
import {
  aKilledLifecycle,
  aLifecycle,
  anActivitySignal,
  anOpenPullRequest,
  aWorkingLifecycle,
  launchId,
  T0_MS,
} from "../../support/builders.ts";
import { anyLifecycle, anyPullRequest } from "./arbitraries.ts";

const MERGED: PullRequestFacts = { kind: "merged", number: 9, url: "u" };
const CLOSED: PullRequestFacts = { kind: "closed", number: 9, url: "u" };
const OPEN_STATES = SESSION_STATES.filter((state) => state !== "done" && state !== "terminated");

describe("an open pull request", () => {
  test.each(OPEN_STATES)("writes only the pr substate of a session that is %s", (state) => {
    const before = aLifecycle({ session: { state, reason: "task_in_progress" } });
    const after = applyPullRequest(before, anOpenPullRequest({ ci: "failing" }));
    expect(after).toEqual({
      ...before,
      pr: { state: "open", reason: "ci_failing", number: 9, url: "https://example.test/o/r/pull/9" },
    });
  });

  test.each<[SessionState, boolean]>([
    ["working", true],
    ["idle", true],
    ["not_started", false],
    ["needs_input", false],
    ["stuck", false],
    ["detecting", false],
  ])("whose agent rests too long makes a session that is %s stuck: %s", (state, isStuck) => {
    const before = aLifecycle({ session: { state, reason: "runtime_lost" } });
    const after = applyPullRequest(before, anOpenPullRequest({ idleBeyondThreshold: true }));
    const stuck = { state: "stuck", reason: "awaiting_user_input" };
    expect(after.session).toEqual(isStuck ? stuck : before.session);
    expect(after.pr.reason).toBe("in_progress");
  });

  test("whose agent rested too long is left by the agent's next sign of work", () => {
    const stuck = applyPullRequest(aWorkingLifecycle(), anOpenPullRequest({ idleBeyondThreshold: true }));
    const after = applyActivitySignal(stuck, anActivitySignal(), {
      launchId: launchId("launch-1"),
      nowMs: T0_MS,
    });
    expect(after.session.state).toBe("working");
  });
});

describe("a merged or closed pull request", () => {
  const memory = { attempts: 1, startedAtMs: 0, evidenceHash: "x" };

  test.each(OPEN_STATES)("parks a session that is %s and clears its doubt", (state) => {
    const before = aLifecycle({ session: { state, reason: "runtime_lost" }, detecting: memory });
    const merged = applyPullRequest(before, MERGED);
    expect(merged.session).toEqual({ state: "idle", reason: "merged_waiting_decision" });
    expect(merged.pr).toEqual({ state: "merged", reason: "merged", number: 9, url: "u" });
    expect(merged.detecting).toBeNull();
    const closed = applyPullRequest(before, CLOSED);
    expect(closed.session).toEqual({ state: "idle", reason: "awaiting_user_input" });
    expect(closed.pr).toEqual({ state: "closed", reason: "closed_unmerged", number: 9, url: "u" });
    expect(closed.detecting).toBeNull();
  });

  test.each([MERGED, CLOSED])("parks once: work after it is not hidden by the next fetch", (facts) => {
    const parked = applyPullRequest(aWorkingLifecycle(), facts);
    const working = applyActivitySignal(parked, anActivitySignal(), {
      launchId: launchId("launch-1"),
      nowMs: T0_MS,
    });
    expect(working.session.state).toBe("working");
    expect(applyPullRequest(working, facts)).toBe(working);
  });

  test("parks again when it is another one", () => {
    const parked = applyPullRequest(aWorkingLifecycle(), MERGED);
    const working = { ...parked, session: { state: "working", reason: "task_in_progress" } } as const;
    expect(applyPullRequest(working, { ...MERGED, number: 10 }).session.state).toBe("idle");
  });
});

describe("whatever was stored and fetched", () => {
  test("a terminal session stays as it is", () => {
    expect(isTerminal(aKilledLifecycle())).toBe(true);
    fc.assert(
      fc.property(anyLifecycle.filter(isTerminal), anyPullRequest, (lifecycle, facts) => {
        expect(applyPullRequest(lifecycle, facts)).toBe(lifecycle);
      }),
    );
  });

  test("the same fetch again changes nothing", () => {
    fc.assert(
      fc.property(anyLifecycle, anyPullRequest, (lifecycle, facts) => {
        const once = applyPullRequest(lifecycle, facts);
        expect(applyPullRequest(once, facts)).toBe(once);
      }),
    );
  });

  test("none ends a session, and runtime, activity, version and revision are never touched", () => {
    fc.assert(
      fc.property(anyLifecycle, anyPullRequest, (lifecycle, facts) => {
        const after = applyPullRequest(lifecycle, facts);
        const { runtime, activity, version, revision } = lifecycle;
        expect(isTerminal(after)).toBe(isTerminal(lifecycle));
        expect(after).toMatchObject({ runtime, activity, version, revision });
      }),
    );
  });
});
