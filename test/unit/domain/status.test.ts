import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isTerminal,
  PR_REASONS,
  PR_STATES,
  type PrReason,
  type PrState,
  SESSION_REASONS,
  SESSION_STATES,
  type SessionReason,
  type SessionState,
} from "../../../src/domain/lifecycle.ts";
import { deriveStatus, STATUSES, type Status } from "../../../src/domain/status.ts";
import { aLifecycle } from "../../support/builders.ts";
import { anyLifecycle } from "./arbitraries.ts";

function statusOf(
  session: readonly [SessionState, SessionReason | null],
  pr: readonly [PrState, PrReason] = ["none", "not_created"],
): Status {
  return deriveStatus(
    aLifecycle({
      session: { state: session[0], reason: session[1] },
      pr: { state: pr[0], reason: pr[1], number: null, url: null },
    }),
  );
}

const HARD_STATES = SESSION_STATES.filter((state) => state !== "idle" && state !== "working");
const SOFT_STATES = ["idle", "working"] as const;

describe("deriveStatus", () => {
  test.each<[SessionReason | null, Status]>([
    ["manually_killed", "killed"],
    ["runtime_lost", "killed"],
    ["agent_process_exited", "killed"],
    ["auto_cleanup", "cleanup"],
    ["pr_merged", "cleanup"],
    ["error_in_process", "errored"],
    ["probe_failure", "errored"],
    ["spawn_requested", "terminated"],
    ["agent_acknowledged", "terminated"],
    ["task_in_progress", "terminated"],
    ["pr_created", "terminated"],
    ["fixing_ci", "terminated"],
    ["resolving_review_comments", "terminated"],
    ["awaiting_user_input", "terminated"],
    ["awaiting_external_review", "terminated"],
    ["research_complete", "terminated"],
    ["merged_waiting_decision", "terminated"],
    [null, "terminated"],
  ])("a session terminated for %s shows %s", (reason, status) => {
    expect(statusOf(["terminated", reason])).toBe(status);
  });

  test.each<[SessionState, Status]>([
    ["done", "done"],
    ["needs_input", "needs_input"],
    ["stuck", "stuck"],
    ["detecting", "detecting"],
    ["not_started", "spawning"],
    ["idle", "idle"],
    ["working", "working"],
  ])("a session that is %s shows %s, whatever the reason", (state, status) => {
    for (const reason of [...SESSION_REASONS, null]) expect(statusOf([state, reason])).toBe(status);
  });

  test.each<[PrState, PrReason, Status]>([
    ["draft", "ci_failing", "ci_failed"],
    ["draft", "in_progress", "draft"],
    ["draft", "changes_requested", "draft"],
    ["open", "ci_failing", "ci_failed"],
    ["open", "changes_requested", "changes_requested"],
    ["open", "bot_comments", "changes_requested"],
    ["open", "approved", "approved"],
    ["open", "merge_ready", "mergeable"],
    ["open", "review_pending", "review_pending"],
    ["open", "in_progress", "pr_open"],
    ["open", "merge_conflicts", "pr_open"],
    ["open", "not_created", "pr_open"],
  ])("an idle or working session with a pull request %s/%s shows %s", (prState, prReason, status) => {
    for (const state of SOFT_STATES) expect(statusOf([state, null], [prState, prReason])).toBe(status);
  });

  test("a merged pull request shows merged whatever its reason", () => {
    for (const reason of PR_REASONS) {
      for (const state of SOFT_STATES) expect(statusOf([state, null], ["merged", reason])).toBe("merged");
    }
  });

  test("a closed or absent pull request has no say", () => {
    for (const reason of PR_REASONS) {
      for (const state of SOFT_STATES) {
        expect(statusOf([state, null], ["closed", reason])).toBe(state);
        expect(statusOf([state, null], ["none", reason])).toBe(state);
      }
    }
  });

  test("no pull request outranks a session that is over, starting, doubtful or in need of a person", () => {
    for (const state of HARD_STATES) {
      const alone = statusOf([state, "runtime_lost"]);
      for (const prState of PR_STATES) {
        for (const reason of PR_REASONS) {
          expect(statusOf([state, "runtime_lost"], [prState, reason])).toBe(alone);
        }
      }
    }
  });

  test("every combination of substates has a status, and every status a combination", () => {
    const sessions = SESSION_STATES.flatMap((state) =>
      [...SESSION_REASONS, null].map((reason) => [state, reason] as const),
    );
    const prs = PR_STATES.flatMap((state) => PR_REASONS.map((reason) => [state, reason] as const));
    const shown = new Set(sessions.flatMap((session) => prs.map((pr) => statusOf(session, pr))));
    expect([...shown].sort()).toEqual([...STATUSES].sort());
  });

  test("a status of the end is shown exactly when the session is over", () => {
    const ofTheEnd: readonly Status[] = ["done", "killed", "cleanup", "errored", "terminated"];
    fc.assert(
      fc.property(anyLifecycle, (lifecycle) => {
        expect(ofTheEnd.includes(deriveStatus(lifecycle))).toBe(isTerminal(lifecycle));
      }),
    );
  });
});
