import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { skipReasonFor } from "../../../src/domain/skip-reason.ts";
import {
  FINDING_KINDS,
  type FindingKind,
  SKIP_REASONS,
  type SkipReason,
  type WorkspaceFinding,
} from "../../../src/domain/workspace-finding.ts";

function found(kind: FindingKind): WorkspaceFinding {
  return { kind, detail: `1 ${kind}`, items: ["x"], count: 1 };
}

/** Most telling first. */
const ORDER: readonly (readonly [FindingKind, SkipReason])[] = [
  ["unreadable", "unknown"],
  ["in_use", "in_use"],
  ["locked", "locked"],
  ["missing", "no_workspace"],
  ["operation_in_progress", "operation_in_progress"],
  ["changed", "dirty"],
  ["staged", "dirty"],
  ["submodule", "dirty"],
  ["nested_repository", "dirty"],
  ["untracked", "untracked"],
  ["ignored", "ignored_files"],
  ["unreachable_commits", "unmerged_commits"],
];

describe("skipReasonFor", () => {
  test.each(ORDER)("%s alone is %s", (kind, reason) => {
    expect(skipReasonFor([found(kind)])).toBe(reason);
  });

  test.each(ORDER)("%s outranks everything after it, in any order, as %s", (kind, reason) => {
    const after = ORDER.slice(ORDER.findIndex(([first]) => first === kind)).map(([later]) => found(later));
    expect(skipReasonFor(after)).toBe(reason);
    expect(skipReasonFor(after.toReversed())).toBe(reason);
  });

  test("every kind of finding has its place in the order", () => {
    expect(ORDER.map(([kind]) => kind).toSorted()).toEqual([...FINDING_KINDS].sort());
  });

  test("no finding is no reason that is known", () => {
    expect(skipReasonFor([])).toBe("unknown");
  });

  test("any findings have one of the reasons of the contract", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...FINDING_KINDS)), (kinds) => {
        expect(SKIP_REASONS).toContain(skipReasonFor(kinds.map(found)));
      }),
    );
  });
});
