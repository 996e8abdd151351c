import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toFindings } from "../../../../src/adapters/worktree/findings.ts";
import { withoutGitLocation } from "../../../../src/adapters/worktree/git-environment.ts";
import { gitComplaint } from "../../../../src/adapters/worktree/git-failure.ts";
import { isNewEnough, parseGitVersion } from "../../../../src/adapters/worktree/git-version.ts";
import { parseIndex } from "../../../../src/adapters/worktree/index-entries.ts";
import { visitedCommits } from "../../../../src/adapters/worktree/lost-commits.ts";
import { parseStatus } from "../../../../src/adapters/worktree/parse-status.ts";
import { isBelow } from "../../../../src/adapters/worktree/safe-path.ts";
import { undoAfter } from "../../../../src/adapters/worktree/undo.ts";
import { AoError } from "../../../../src/domain/errors.ts";

const OID = "0123456789012345678901234567890123456789";
/** Any path that git could write: no NUL, not empty. */
const paths = fc.string({ minLength: 1, unit: "grapheme" }).filter((path) => !path.includes("\0"));

describe("parseStatus", () => {
  const HEADER = "# branch.oid (initial)\0";
  const ordinary = (xy: string, sub: string, path: string) =>
    `1 ${xy} ${sub} 100644 100644 100644 ${OID} ${OID} ${path}`;

  test.each<[string, string, Partial<ReturnType<typeof parseStatus>>]>([
    ["a change in the tree", ordinary(".M", "N...", "a b"), { changed: ["a b"] }],
    ["a deletion in the tree", ordinary(".D", "N...", "a"), { changed: ["a"] }],
    ["a staged change", ordinary("M.", "N...", "a"), { staged: ["a"] }],
    ["both", ordinary("MM", "N...", "a"), { staged: ["a"], changed: ["a"] }],
    ["a changed submodule", ordinary(".M", "S.M.", "lib"), { submodules: ["lib"] }],
    [
      "a staged and changed submodule",
      ordinary("MM", "SC..", "lib"),
      { staged: ["lib"], submodules: ["lib"] },
    ],
    ["a conflict", `u UU N... 100644 100644 100644 100644 ${OID} ${OID} ${OID} a`, { changed: ["a"] }],
    [
      "a rename",
      `2 R. N... 100644 100644 100644 ${OID} ${OID} R100 new\0old\0? x`,
      { staged: ["new"], untracked: ["x"] },
    ],
    ["an untracked file", "? -rf", { untracked: ["-rf"] }],
    ["an untracked repository", "? nested/", { nested: ["nested/"] }],
    ["an ignored folder", "! build/", { ignored: ["build/"] }],
    ["the commit", `# branch.oid ${OID}`, { head: OID }],
    ["no commit yet", "# branch.oid (initial)", { head: null }],
  ])("%s", (_name, entry, expected) => {
    const nothing = {
      head: null,
      changed: [],
      staged: [],
      submodules: [],
      untracked: [],
      nested: [],
      ignored: [],
    };
    expect(parseStatus(`${HEADER}${entry}\0`)).toEqual({ ...nothing, ...expected });
  });

  test("an unknown entry is an error: nothing may be concluded from it", () => {
    expect(() => parseStatus(`${HEADER}3 what\0`)).toThrow("unknown status entry");
  });

  test.each(["", "? a\0", "garbage"])("%j without git's header is an error, never a clean tree", (text) => {
    expect(() => parseStatus(text)).toThrow("no header");
  });

  test("gives every path back as it was, in order", () => {
    fc.assert(
      fc.property(fc.array(paths), (all) => {
        const text = all.map((path) => `${ordinary(".M", "N...", path)}\0`).join("");
        expect(parseStatus(HEADER + text).changed).toEqual(all);
      }),
    );
  });
});

describe("parseIndex", () => {
  test("an unknown entry is an error: nothing may be concluded from it", () => {
    expect(() => parseIndex("what\0")).toThrow("unknown index entry");
  });

  test("gives links and hidden entries, whatever their paths", () => {
    fc.assert(
      fc.property(paths, (path) => {
        const line = (tag: string, mode: string) => `${tag} ${mode} ${OID} 0\t${path}\0`;
        expect(parseIndex(line("H", "100644"))).toEqual({ tracked: [path], gitlinks: [], hidden: [] });
        expect(parseIndex(line("H", "160000")).gitlinks).toEqual([path]);
        expect(parseIndex(line("h", "100644")).hidden).toMatchObject([{ path, skipped: false }]);
        expect(parseIndex(line("S", "100644")).hidden).toMatchObject([{ path, skipped: true }]);
      }),
    );
  });
});

describe("visitedCommits", () => {
  const log = (...entries: readonly (readonly [string, string, string])[]) =>
    entries.map(([from, to, what]) => `${from} ${to} Me <me@x> 1 +0000\t${what}\n`).join("");

  test.each<[string, string, readonly string[]]>([
    ["nothing", "", []],
    ["a birth", log(["0000", "aaaa", ""]), ["aaaa"]],
    [
      "commits",
      log(["0000", "aaaa", "commit: 1"], ["aaaa", "bbbb", "checkout: moving from a to b"]),
      ["aaaa", "bbbb"],
    ],
    [
      "a rebase, but not its steps",
      log(
        ["aaaa", "bbbb", "rebase (start): checkout main"],
        ["bbbb", "cccc", "rebase (pick): 1"],
        ["cccc", "dddd", "rebase (squash): 2"],
        ["dddd", "dddd", "rebase (finish): returning to refs/heads/x"],
      ),
      ["aaaa", "dddd"],
    ],
    [
      "a pull with rebase, but not its steps",
      log(
        ["aaaa", "bbbb", "pull --rebase origin main (start): checkout 1"],
        ["bbbb", "cccc", "pull --rebase origin main (pick): 2"],
        ["cccc", "dddd", "commit: 3"],
      ),
      ["aaaa", "cccc", "dddd"],
    ],
    [
      "the end of a detached rebase before the next one",
      log(
        ["aaaa", "bbbb", "rebase (start): checkout x"],
        ["bbbb", "cccc", "rebase (pick): 1"],
        ["cccc", "dddd", "rebase (start): checkout y"],
      ),
      ["aaaa", "cccc", "dddd"],
    ],
    [
      "a commit made while a rebase stopped",
      log(
        ["aaaa", "bbbb", "rebase (edit): 1"],
        ["bbbb", "cccc", "commit: x"],
        ["cccc", "dddd", "rebase (pick): 2"],
      ),
      ["aaaa", "bbbb", "cccc", "dddd"],
    ],
  ])("%s", (_name, text, expected) => {
    expect(visitedCommits(text)).toEqual(expected);
  });
});

describe("toFindings", () => {
  test("says one and many, and nothing of nothing", () => {
    expect(
      toFindings({ changed: ["a"], untracked: ["b", "c"], staged: [] }).map(({ detail }) => detail),
    ).toEqual(["1 changed file: a", "2 untracked files: b, c"]);
  });

  test("counts all, once each, and names twenty at most", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (ignored) => {
        const [finding] = toFindings({ ignored });
        const distinct = [...new Set(ignored)];
        expect(finding).toMatchObject({ kind: "ignored", count: distinct.length });
        expect(finding?.items).toEqual(distinct.slice(0, 20));
      }),
    );
  });
});

test.each([
  ["git version 2.39.5\n", "2.39.5", true],
  ["git version 2.39.5 (Apple Git-154)\n", "2.39.5", true],
  ["git version 2.25.0\n", "2.25.0", true],
  ["git version 2.24.9\n", "2.24.9", false],
  ["git version 3.0\n", "3.0", true],
  ["git version 1.99\n", "1.99", false],
])("%j is version %s", (text, version, enough) => {
  expect(parseGitVersion(text)).toBe(version);
  expect(isNewEnough(version)).toBe(enough);
});

test("what is no version is none", () => {
  expect(parseGitVersion("hub version 1\n")).toBeUndefined();
});

test.each([
  ["warning: x\nfatal: no such ref\nhint: y\n", "no such ref"],
  ["error: broken\n", "broken"],
  ["only words\n\n", "only words"],
  ["", "no message"],
])("of %j git complained", (stderr, complaint) => {
  expect(gitComplaint(stderr)).toBe(complaint);
});

test("of the environment only what leads git astray is taken", () => {
  const env = {
    GIT_DIR: "x",
    GIT_TRACE2_EVENT: "y",
    GIT_SSH_COMMAND: "ssh -v",
    PATH: "/bin",
    GONE: undefined,
  };
  expect(withoutGitLocation(env)).toEqual({ GIT_SSH_COMMAND: "ssh -v", PATH: "/bin" });
});

test("a folder is not below one whose name it begins with, nor below itself", () => {
  expect([isBelow("/a", "/a/b"), isBelow("/a", "/ab"), isBelow("/a", "/a"), isBelow("/", "/a")]).toEqual([
    true,
    false,
    false,
    true,
  ]);
});

describe("undoAfter", () => {
  test("takes the last thing back first", async () => {
    const order: string[] = [];
    const step = (what: string) => ({ what, where: "x", run: async () => void order.push(what) });
    const error = new AoError("git_failed", "no");
    expect(await undoAfter(error, [step("branch"), step("worktree")])).toBe(error);
    expect(order).toEqual(["worktree", "branch"]);
  });

  test("a step that fails hides neither the first error nor the steps after it", async () => {
    const order: string[] = [];
    const steps = [
      { what: "branch", where: "feat/1", run: async () => void order.push("branch") },
      { what: "worktree", where: "/w", run: () => Promise.reject(new Error("busy")) },
    ];
    const known = await undoAfter(new AoError("git_failed", "no", { hint: "try", details: { a: 1 } }), steps);
    expect(known).toMatchObject({
      code: "git_failed",
      hint: "try",
      details: { a: 1, left: [{ what: "worktree", where: "/w", why: "busy" }] },
    });
    const unknown = await undoAfter(new Error("odd"), steps);
    expect(unknown).toMatchObject({ code: "teardown_incomplete", message: "odd" });
    expect(order).toEqual(["branch", "branch"]);
  });
});
