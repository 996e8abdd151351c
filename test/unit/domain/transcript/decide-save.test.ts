import { describe, expect, test } from "vitest";
import {
  decideAppend,
  decideConflict,
  decideRewrite,
} from "../../../../src/domain/transcript/decide-save.ts";

/** The digest of so many messages of a history. */
const at = (count: number, history = "h") => `${history}${count}`;
const head = (count: number, { history = "h", rewrites = 1 } = {}) => ({
  ...{ count, rewrites, revision: 5 },
  digest: at(count, history),
});
/** What a writer has: a base, and messages behind it. */
const draft = (base: number | null, total: number, history = "h") => ({
  base: base === null ? null : { count: base, digest: at(base, history), revision: 1 },
  digests: Array.from({ length: total - (base ?? 0) + 1 }, (_, more) => at((base ?? 0) + more, history)),
});

describe("decideAppend", () => {
  test.each([
    ["what is on disk is unchanged", head(4), draft(4, 4), { kind: "unchanged" }],
    ["what was saved in part goes on behind that", head(5), draft(4, 7), { kind: "append", from: 1 }],
    ["what was saved whole is unchanged", head(7), draft(4, 7), { kind: "unchanged" }],
    ["what comes behind the disk is appended", head(4), draft(4, 6), { kind: "append", from: 0 }],
    [
      "a revision that moved proves nothing",
      { ...head(4), revision: 99 },
      draft(4, 6),
      { kind: "append", from: 0 },
    ],
    ["a disk that goes on is contested", head(6), draft(4, 5), { kind: "contested" }],
    ["another history is contested", head(4, { history: "x" }), draft(4, 6), { kind: "contested" }],
    ["a disk that was rewound below the base is contested", head(2), draft(4, 6), { kind: "contested" }],
    [
      "who never read it may extend what was never rewound",
      head(2),
      draft(null, 6),
      { kind: "append", from: 2 },
    ],
    ["and not what was", head(2, { rewrites: 2 }), draft(null, 6), { kind: "contested" }],
    ["but may say the same", head(6, { rewrites: 2 }), draft(null, 6), { kind: "unchanged" }],
  ])("%s", (_fact, disk, writer, verdict) => {
    expect(decideAppend({ head: disk, ...writer })).toEqual(verdict);
  });
});

describe("decideRewrite", () => {
  const base = { count: 4, digest: at(4), revision: 1 };

  test.each([
    ["who knows all of it may", head(4), base, { count: 2, digest: at(2) }, "rewrite"],
    ["the same is no change", head(4), base, { count: 4, digest: at(4) }, "unchanged"],
    ["what was done already is no change", head(2), base, { count: 2, digest: at(2) }, "unchanged"],
    ["who knows an older one may not", head(5), base, { count: 2, digest: at(2) }, "contested"],
    [
      "who knows another one may not",
      head(4, { history: "x" }),
      base,
      { count: 2, digest: at(2) },
      "contested",
    ],
    ["who knows nothing may not", head(4), null, { count: 2, digest: at(2) }, "contested"],
  ])("%s", (_fact, disk, known, next, verdict) => {
    expect(decideRewrite({ head: disk, base: known, next })).toBe(verdict);
  });
});

test("a conflict is stale_prefix only when the disk holds all of it", () => {
  expect(decideConflict(at(2), at(2))).toBe("stale_prefix");
  expect(decideConflict(at(2), at(2, "x"))).toBe("diverged");
  expect(decideConflict(at(2), undefined)).toBe("diverged");
});
