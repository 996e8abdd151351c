import { execFileSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { commitFiles } from "../../../../../src/adapters/agents/embedded/program/git-commit.ts";
import { tempDir } from "../../../../support/temp-dir.ts";

beforeEach(() => {
  vi.stubEnv("GIT_CONFIG_GLOBAL", "/dev/null");
  vi.stubEnv("GIT_CONFIG_NOSYSTEM", "1");
  for (const name of [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "EMAIL",
  ]) {
    vi.stubEnv(name, undefined);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
});

/** A repository without a commit and without an identity. */
function aRepository() {
  const root = tempDir();
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  git("init", "-q", "-b", "main");
  const write = (path: string, text = path) => writeFileSync(join(root, path), text);
  const commit = (paths: readonly string[], message = "Work", signal = new AbortController().signal) =>
    commitFiles({ root, paths, message, signal });
  const committed = () => git("show", "--format=", "--name-only", "HEAD").split("\n").sort();
  return { root, git, write, commit, committed };
}

describe("a commit of edited files", () => {
  test("is made in a repository that knows no identity and has no commit", async () => {
    const { git, write, commit } = aRepository();
    write("a.txt");
    expect(await commit(["a.txt"], "Add a")).toBe(git("rev-parse", "--short", "HEAD"));
    expect(git("log", "--format=%an <%ae> %cn %s")).toBe(
      "ao embedded agent <agent@ao.invalid> ao embedded agent Add a",
    );
  });

  test("is the user's own when git knows who that is", async () => {
    const { git, write, commit } = aRepository();
    git("config", "user.name", "Ada");
    git("config", "user.email", "ada@example.org");
    write("a.txt");
    await commit(["a.txt"]);
    expect(git("log", "--format=%an <%ae>")).toBe("Ada <ada@example.org>");
  });

  test("leaves everything else as it is, staged or not", async () => {
    const { git, write, commit, committed } = aRepository();
    for (const path of ["mine.txt", "staged.txt", "other.txt"]) write(path);
    git("add", "staged.txt");
    await commit(["mine.txt"]);
    expect(committed()).toEqual(["mine.txt"]);
    expect(git("status", "--porcelain").split("\n")).toEqual(["A  staged.txt", "?? other.txt"]);
  });

  test("takes in what was changed and what was deleted", async () => {
    const { root, write, commit, git } = aRepository();
    for (const path of ["changed.txt", "deleted.txt"]) write(path);
    await commit(["changed.txt", "deleted.txt"]);
    write("changed.txt", "new");
    rmSync(join(root, "deleted.txt"));
    await commit(["changed.txt", "deleted.txt", "never-committed.txt"]);
    expect(git("show", "--format=", "--name-status", "HEAD").split("\n")).toEqual([
      "M\tchanged.txt",
      "D\tdeleted.txt",
    ]);
  });

  test("is not made when nothing changed", async () => {
    const { write, commit } = aRepository();
    write("a.txt");
    await commit(["a.txt"]);
    expect(await commit(["a.txt"])).toBeNull();
    expect(await commit(["gone.txt"])).toBeNull();
    expect(await commit([])).toBeNull();
  });

  test("leaves out what git ignores", async () => {
    const { write, commit, committed } = aRepository();
    write(".gitignore", "*.log\n");
    write("a.log");
    write("a.txt");
    expect(await commit(["a.log"])).toBeNull();
    await commit(["a.log", "a.txt"]);
    expect(committed()).toEqual(["a.txt"]);
  });

  test.each([["*.txt"], [":(top)x"], ["-rf"], ["ü\n.txt"], ["a b.txt"]])(
    "takes the name %j literally",
    async (path) => {
      const { git, write, commit } = aRepository();
      write(path);
      write("bystander.txt");
      await commit([path]);
      expect(git("ls-files", "-z").split("\0")).toEqual([path, ""]);
    },
  );

  test.each([["-rf"], ["$(touch x)"], ["# not a comment"], ["two\n\nparagraphs"]])(
    "takes the message %j literally",
    async (message) => {
      const { git, write, commit } = aRepository();
      write("a.txt");
      await commit(["a.txt"], message);
      expect(git("log", "--format=%B")).toBe(message);
    },
  );

  test("fails with what git said when a hook refuses", async () => {
    const { root, write, commit } = aRepository();
    const hook = join(root, ".git", "hooks", "pre-commit");
    writeFileSync(hook, "#!/bin/sh\necho not today >&2\nexit 1\n");
    chmodSync(hook, 0o700);
    write("a.txt");
    await expect(commit(["a.txt"])).rejects.toMatchObject({ code: "git_failed", message: "not today" });
  });

  test("that was interrupted before it is not made", async () => {
    const { write, commit, git } = aRepository();
    write("a.txt");
    await expect(commit(["a.txt"], "Work", AbortSignal.abort())).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(git("rev-list", "--all")).toBe("");
  });
});
