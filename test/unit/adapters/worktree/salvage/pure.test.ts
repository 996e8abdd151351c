import { readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readIndexFile } from "../../../../../src/adapters/worktree/salvage/index-file.ts";
import { encodeAbout, parseAbout } from "../../../../../src/adapters/worktree/salvage/layout.ts";
import {
  encodePermissions,
  parsePermissions,
} from "../../../../../src/adapters/worktree/salvage/permissions.ts";
import {
  parseSalvageMessage,
  salvageMessage,
} from "../../../../../src/adapters/worktree/salvage/salvage-message.ts";
import { fromTreeName, toTreeName } from "../../../../../src/adapters/worktree/salvage/tree-names.ts";
import type { HeadPosition } from "../../../../../src/domain/salvage.ts";
import { gitDirOf } from "../worktree-world.ts";
import { SESSION, salvageWorld } from "./salvage-world.ts";

const part = fc.oneof(
  fc.constantFrom(".git", ".GIT", ".gIt%ao", ".git%ao%ao", "git", ".gitignore", ".git~1", "a.git"),
  fc.string({ minLength: 1, maxLength: 6 }).filter((text) => !/[/\0]/.test(text)),
);
const path = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));

describe("names in a tree", () => {
  test.each([
    ["a/.git/config", "a/.git%ao/config"],
    [".git", ".git%ao"],
    ["x/.GIT", "x/.GIT%ao"],
    ["x/.git%ao/y", "x/.git%ao%ao/y"],
    [".gitignore", ".gitignore"],
    ["a.git/b", "a.git/b"],
  ])("%s is kept as %s", (one, other) => {
    expect(toTreeName(one)).toBe(other);
    expect(fromTreeName(other)).toBe(one);
  });

  test("lead back to every path, and git takes them", () => {
    fc.assert(
      fc.property(path, (one) => {
        expect(fromTreeName(toTreeName(one))).toBe(one);
        expect(
          toTreeName(one)
            .split("/")
            .map((name) => name.toLowerCase()),
        ).not.toContain(".git");
      }),
    );
  });
});

describe("permissions", () => {
  const mode = fc.integer({ min: 0, max: 0o7777 });

  test("come back as they were written", () => {
    const usual = fc.record({ file: mode, executable: mode, folder: mode });
    const others = fc.array(fc.tuple(path, mode)).map((pairs) => new Map(pairs));
    fc.assert(
      fc.property(fc.record({ usual, others }), (permissions) => {
        expect(parsePermissions(encodePermissions(permissions).toString("latin1"))).toEqual(permissions);
      }),
    );
  });

  test.each(["", "644 755\0", "644 755 9\0", "644 755 755\0x path\0"])("%j are none", (text) => {
    expect(() => parsePermissions(text)).toThrow();
  });
});

describe("what a salvage says", () => {
  const oid = fc.stringMatching(/^[0-9a-f]{40}$/);
  const head: fc.Arbitrary<HeadPosition> = fc.oneof(
    fc.record({ kind: fc.constant("detached" as const), commit: oid }),
    fc.record({ kind: fc.constant("branch" as const), branch: fc.string(), commit: fc.option(oid) }),
  );
  const reason = fc.constantFrom("kill" as const, "cleanup" as const, "rewind" as const, "by_hand" as const);

  test("in its message is understood again", () => {
    fc.assert(
      fc.property(fc.record({ atMs: fc.nat(), reason, head }), (note) => {
        expect(parseSalvageMessage(salvageMessage(SESSION, note))).toEqual(note);
      }),
    );
  });

  test("in its tree is understood again, and the same for the same", () => {
    const refs = fc.dictionary(fc.stringMatching(/^refs\/worktree\/[a-z]{1,5}$/), oid, {
      noNullPrototype: true,
    });
    fc.assert(
      fc.property(fc.record({ head, refs }), (about) => {
        expect(parseAbout(encodeAbout(about).toString("utf8"))).toEqual(about);
      }),
    );
  });

  test.each([
    "",
    "work of app-1",
    "ao-salvage: {}",
    "ao-salvage: null",
    'ao-salvage: {"atMs":1,"reason":"x"}',
  ])("%j is no message of a salvage", (text) => expect(parseSalvageMessage(text)).toBeUndefined());

  test.each(["{}", "null", '{"version":2}', '{"version":1,"head":{"kind":"none"},"refs":{}}', "x"])(
    "%j is of no salvage that is known",
    (text) => expect(() => parseAbout(text)).toThrow(),
  );
});

describe("an index file", () => {
  const read = (worktree: string) => readIndexFile(readFileSync(join(gitDirOf(worktree), "index")), "sha1");

  test("has the entries that git lists, with all that it was told of them", () => {
    const { path: worktree, git, write } = salvageWorld();
    write("new.txt", "new\n");
    git("add", "-N", "new.txt");
    git("update-index", "--assume-unchanged", "tracked.txt");
    git("update-index", "--skip-worktree", "folder/deep.txt");
    const entries = read(worktree)?.entries ?? [];
    const lines = entries.map(({ mode, oid, stage, path: name }) => `${mode} ${oid} ${stage}\t${name}`);
    expect(lines.join("\n")).toBe(git("ls-files", "--stage"));
    const marked = (mark: "assumeUnchanged" | "skipWorktree" | "intentToAdd") =>
      entries.filter((entry) => entry[mark]).map((entry) => entry.path);
    expect(marked("assumeUnchanged")).toEqual(["tracked.txt"]);
    expect(marked("skipWorktree")).toEqual(["folder/deep.txt"]);
    expect(marked("intentToAdd")).toEqual(["new.txt"]);
  });

  test("is the same in its plain form whatever git last saw of the files", () => {
    const { path: worktree, git } = salvageWorld();
    const before = read(worktree)?.canonical;
    utimesSync(join(worktree, "tracked.txt"), 1, 1);
    git("update-index", "--refresh");
    expect(read(worktree)?.canonical).toEqual(before);
    git("rm", "-q", "--cached", "tracked.txt");
    expect(read(worktree)?.canonical).not.toEqual(before);
  });

  test.each([
    ["of version 4", ["update-index", "--index-version", "4"]],
    ["in two files", ["update-index", "--split-index"]],
  ])("%s is left to git", (_form, args) => {
    const { path: worktree, git } = salvageWorld();
    git(...args);
    expect(read(worktree)).toBeUndefined();
  });
});
