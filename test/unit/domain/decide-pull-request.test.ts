import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decidePullRequest } from "../../../src/domain/decide-pull-request.ts";
import type { PrReason } from "../../../src/domain/lifecycle.ts";
import { anOpenPullRequest } from "../../support/builders.ts";
import { anyPullRequest } from "./arbitraries.ts";

type Open = Parameters<typeof anOpenPullRequest>[0];

/** In the order of the specification: each row also claims everything below it. */
const FIRST_MATCH: readonly (readonly [string, NonNullable<Open>, PrReason])[] = [
  ["CI failing", { ci: "failing" }, "ci_failing"],
  ["draft", { draft: true }, "in_progress"],
  ["changes requested", { review: "changes_requested" }, "changes_requested"],
  ["a human's comment", { humanComments: true }, "changes_requested"],
  ["only bot comments", { botComments: true }, "bot_comments"],
  ["conflicts", { conflicts: true }, "merge_conflicts"],
  ["mergeable, with no formal approval", { mergeable: true }, "merge_ready"],
  ["approved", { review: "approved" }, "approved"],
  ["review pending", { review: "pending" }, "review_pending"],
];

describe("decidePullRequest", () => {
  test.each(FIRST_MATCH)("an open one: %s", (_what, facts, reason) => {
    const { pr, session } = decidePullRequest(anOpenPullRequest(facts));
    expect(pr.reason).toBe(reason);
    expect(session).toBeNull();
  });

  test.each(FIRST_MATCH.map((row, index) => [row[0], index] as const))(
    "%s outranks everything after it",
    (_what, index) => {
      const rows = FIRST_MATCH.slice(index).toReversed();
      const facts = Object.assign({ idleBeyondThreshold: true }, ...rows.map((row) => row[1]));
      expect(decidePullRequest(anOpenPullRequest(facts)).pr.reason).toBe(FIRST_MATCH[index]?.[2]);
      expect(decidePullRequest(anOpenPullRequest(facts)).session).toBeNull();
    },
  );

  test("an open one of which nothing is said is in progress", () => {
    expect(decidePullRequest(anOpenPullRequest())).toEqual({
      pr: { state: "open", reason: "in_progress", number: 9, url: "https://example.test/o/r/pull/9" },
      session: null,
    });
  });

  test("an open one whose agent rests beyond the threshold is in progress and the session stuck", () => {
    const { pr, session } = decidePullRequest(anOpenPullRequest({ idleBeyondThreshold: true }));
    expect(pr.reason).toBe("in_progress");
    expect(session).toEqual({ state: "stuck", reason: "awaiting_user_input" });
  });

  test.each([
    ["pending", "in_progress"],
    ["passing", "in_progress"],
    ["none", "in_progress"],
  ] as const)("CI %s alone is %s", (ci, reason) => {
    expect(decidePullRequest(anOpenPullRequest({ ci })).pr.reason).toBe(reason);
  });

  test("a draft whose CI fails is a draft with failing CI", () => {
    const { pr } = decidePullRequest(anOpenPullRequest({ draft: true, ci: "failing" }));
    expect(pr).toMatchObject({ state: "draft", reason: "ci_failing" });
  });

  test("a merged one lets the session wait for a decision", () => {
    expect(decidePullRequest({ kind: "merged", number: 9, url: "u" })).toEqual({
      pr: { state: "merged", reason: "merged", number: 9, url: "u" },
      session: { state: "idle", reason: "merged_waiting_decision" },
    });
  });

  test("a closed one lets the session wait for its user", () => {
    expect(decidePullRequest({ kind: "closed", number: 9, url: "u" })).toEqual({
      pr: { state: "closed", reason: "closed_unmerged", number: 9, url: "u" },
      session: { state: "idle", reason: "awaiting_user_input" },
    });
  });

  test("the state is that of the pull request, number and address are kept", () => {
    fc.assert(
      fc.property(anyPullRequest, (facts) => {
        const { pr } = decidePullRequest(facts);
        const state = facts.kind === "open" && facts.draft ? "draft" : facts.kind;
        expect(pr).toMatchObject({ state, number: facts.number, url: facts.url });
      }),
    );
  });
});
