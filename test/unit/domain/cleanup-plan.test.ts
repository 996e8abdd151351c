import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Candidate,
  type CandidateFacts,
  type CleanupRules,
  decideUnseen,
  planCleanup,
  type WorkspaceFacts,
} from "../../../src/domain/cleanup-plan.ts";
import { isKeepable } from "../../../src/domain/salvage.ts";
import { FINDING_KINDS, type FindingKind, SKIP_REASONS } from "../../../src/domain/workspace-finding.ts";
import { projectId, sessionId } from "../../support/builders.ts";

const PLAIN: CleanupRules = { olderThanMs: null, salvage: false, deleteMergedBranches: false };
const KEEPING: CleanupRules = { ...PLAIN, salvage: true };
const ENDED: CandidateFacts = {
  ...{ id: sessionId("app-1"), projectId: projectId("app"), obstacle: null, workspacePath: "/w/app-1" },
  ...{ agent: "ended", endedForMs: 1000, isShared: false, isFreed: false, rival: null },
};
const MERGED = { branch: "feat/1", commit: "1".repeat(40), into: "refs/heads/main" };
const REMAINS = { branch: "feat/1", commits: 2, stashes: 1 };

const found = (...kinds: readonly FindingKind[]) =>
  kinds.map((kind) => ({ kind, detail: `1 ${kind}`, items: ["x"], count: 1 }));

function seen(
  findings: ReturnType<typeof found>,
  more: Partial<WorkspaceFacts & { readonly kind: "seen" }> = {},
): WorkspaceFacts {
  return { kind: "seen", findings, unkeepable: [], remains: null, merged: null, ...more };
}

function actionOf(facts: Partial<CandidateFacts>, workspace: WorkspaceFacts | null, rules: CleanupRules) {
  const [item] = planCleanup([{ facts: { ...ENDED, ...facts }, workspace }], rules);
  return item?.action;
}

const CANNOT_KEEP = { unkeepable: [{ path: "lib", why: "it is a submodule" }] };
const BUSY = { kind: "skip", reason: "operation_in_progress", detail: "a restore is under way" } as const;

describe("a plan frees", () => {
  test.each<[string, WorkspaceFacts, CleanupRules]>([
    ["what holds nothing", seen([]), PLAIN],
    ["what holds nothing, as well when work is to be kept", seen([]), KEEPING],
    ["what holds work that can be kept", seen(found("changed", "untracked")), KEEPING],
    ["what is exactly old enough", seen([]), { ...PLAIN, olderThanMs: 1000 }],
  ])("%s", (_what, workspace, rules) => {
    expect(actionOf({}, workspace, rules)).toEqual({ kind: "free", remains: null, merged: null });
  });

  test("and names what stays, and the branch that goes", () => {
    const workspace = seen([], { remains: REMAINS, merged: MERGED });
    expect(actionOf({}, workspace, PLAIN)).toEqual({ kind: "free", remains: REMAINS, merged: MERGED });
  });
});

describe("a plan skips", () => {
  test.each<[string, Partial<CandidateFacts>, WorkspaceFacts | null, CleanupRules]>([
    ["operation_in_progress", { obstacle: BUSY }, seen([]), PLAIN],
    ["no_workspace", { workspacePath: "" }, seen([]), PLAIN],
    ["unknown", { agent: "unknown" }, seen([]), PLAIN],
    ["in_use", { agent: "alive" }, seen([]), PLAIN],
    ["too_recent", { endedForMs: 999 }, seen([]), { ...PLAIN, olderThanMs: 1000 }],
    ["shared", { isShared: true }, seen([]), PLAIN],
    ["unknown", { rival: "two rows name the same launch" }, seen([]), PLAIN],
    ["unknown", {}, null, PLAIN],
    ["dirty", {}, seen(found("changed", "untracked")), PLAIN],
    ["in_use", {}, seen(found("changed", "in_use")), KEEPING],
    ["no_workspace", {}, seen(found("missing", "staged")), KEEPING],
    ["unknown", {}, seen(found("changed"), CANNOT_KEEP), KEEPING],
    [
      "unsafe_path",
      {},
      { kind: "stays", why: { kind: "skip", reason: "unsafe_path", detail: "moved" } },
      PLAIN,
    ],
  ])("as %s", (reason, facts, workspace, rules) => {
    expect(actionOf(facts, workspace, rules)).toMatchObject({ kind: "skip", reason });
  });

  test("with what cannot be kept in its reason", () => {
    expect(actionOf({}, seen(found("changed"), CANNOT_KEEP), KEEPING)).toMatchObject({
      detail: "what cannot be kept: lib: it is a submodule",
    });
  });

  test("nothing that failed: that is an error", () => {
    const why = { kind: "error", message: "bad object" } as const;
    expect(actionOf({}, { kind: "stays", why }, PLAIN)).toEqual(why);
    expect(actionOf({ obstacle: why }, null, PLAIN)).toEqual(why);
  });
});

/** Said once more, in other words. */
function mayGo(candidate: Candidate, rules: CleanupRules): boolean {
  if (candidate.workspace?.kind !== "seen" || decideUnseen(candidate.facts, rules) !== null) return false;
  const { findings, unkeepable } = candidate.workspace;
  return findings.length === 0 || (rules.salvage && isKeepable(findings) && unkeepable.length === 0);
}

describe("for any facts", () => {
  const factsArb: fc.Arbitrary<CandidateFacts> = fc.record({
    id: fc.constantFrom("app-1", "app-2", "app-3").map(sessionId),
    projectId: fc.constant(ENDED.projectId),
    obstacle: fc.option(fc.constantFrom(BUSY, { kind: "error", message: "x" } as const)),
    workspacePath: fc.constantFrom("", "/w/app-1"),
    agent: fc.constantFrom("ended", "alive", "unknown"),
    endedForMs: fc.integer({ min: -5, max: 2000 }),
    isShared: fc.boolean(),
    isFreed: fc.constant(false),
    rival: fc.option(fc.constant("rival")),
  });
  const seenArb = fc.record<WorkspaceFacts & { readonly kind: "seen" }>({
    kind: fc.constant("seen"),
    findings: fc.array(fc.constantFrom(...FINDING_KINDS), { maxLength: 3 }).map((kinds) => found(...kinds)),
    unkeepable: fc.constantFrom([], CANNOT_KEEP.unkeepable),
    remains: fc.option(fc.constant(REMAINS)),
    merged: fc.option(fc.constant(MERGED)),
  });
  const candidatesArb: fc.Arbitrary<readonly Candidate[]> = fc.array(
    fc.record({ facts: factsArb, workspace: fc.option(seenArb) }),
  );
  const rulesArb: fc.Arbitrary<CleanupRules> = fc.record({
    olderThanMs: fc.option(fc.constant(1000)),
    salvage: fc.boolean(),
    deleteMergedBranches: fc.boolean(),
  });

  test("each candidate has one item, in order, and nothing that would be lost is freed", () => {
    fc.assert(
      fc.property(candidatesArb, rulesArb, (candidates, rules) => {
        const plan = planCleanup(candidates, rules);
        expect(plan.map(({ id }) => id)).toEqual(candidates.map(({ facts }) => facts.id));
        const freed = candidates.filter((_one, at) => plan[at]?.action.kind === "free");
        expect(freed.every((one) => mayGo(one, rules))).toBe(true);
        const reasons = plan.flatMap(({ action }) => (action.kind === "skip" ? [action.reason] : []));
        expect(SKIP_REASONS).toEqual(expect.arrayContaining(reasons));
      }),
    );
  });
});
