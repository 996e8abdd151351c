import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findDefaultBranch } from "../../../../src/adapters/worktree/default-branch.ts";
import { gitRepositories } from "../../../../src/adapters/worktree/git-repositories.ts";
import { openRepository } from "../../../../src/adapters/worktree/repository.ts";
import { gitRunner } from "../../../../src/adapters/worktree/run-git.ts";
import type { AoErrorCode } from "../../../../src/domain/errors.ts";
import { GIT_ENV, gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { anOperationId, failure, gitWrapper, hook, traces, worktreeWorld } from "./worktree-world.ts";

/** A git that does this in place of every call with `command` among its arguments, once it is spoilt. */
function spoilt(command: string, instead: string) {
  const flag = join(tempDir("ao-flag"), "on");
  const gitPath = gitWrapper(
    `case " $* " in ${command === ANYTHING ? "*" : `*" ${command} "*`}) [ -e '${flag}' ] && { ${instead}; };; esac`,
  );
  return { gitPath, spoil: () => writeFileSync(flag, ""), mend: () => rmSync(flag) };
}

const ANYTHING = "";
const FAIL = 'echo "fatal: disk on fire" >&2; exit 128';
const MUTE = "exit 0";

describe("the default branch", () => {
  test.each([
    ["for-each-ref", FAIL, "git_failed"],
    ["config", FAIL, "git_failed"],
    ["config", MUTE, "git_unavailable"],
    ["symbolic-ref", FAIL, "git_failed"],
    ["symbolic-ref", MUTE, "git_unavailable"],
    ["for-each-ref", "kill -9 $$", "git_unavailable"],
  ] as const)("is no other one when %s answers with %s", async (command, instead, code) => {
    const source = gitRepository();
    source.git("branch", "-m", "main", "trunk");
    source.git("branch", "only");
    const { gitPath, spoil } = spoilt(command, instead);
    const git = gitRunner({ env: GIT_ENV, gitPath });
    const repository = await openRepository(git, source.path);
    expect(await findDefaultBranch(git, repository)).toEqual({ name: "trunk" });
    spoil();
    await failure(findDefaultBranch(git, repository), code);
  });

  test("is not the next usual one when the ref of the first cannot be read", async () => {
    const source = gitRepository();
    source.git("branch", "master");
    writeFileSync(join(source.path, ".git", "refs", "heads", "main"), "");
    const git = gitRunner({ env: GIT_ENV });
    const repository = await openRepository(git, source.path);
    const error = await failure(findDefaultBranch(git, repository), "git_failed");
    expect(error.message).toContain("refs/heads/main");
  });
});

describe("a plan", () => {
  test.each<[string, string, AoErrorCode]>([
    ["check-ref-format", FAIL, "git_failed"],
    ["check-ref-format", "exit 1", "git_failed"],
    ["check-ref-format", MUTE, "git_unavailable"],
    ["check-ref-format", "kill -9 $$", "git_unavailable"],
    ["for-each-ref", FAIL, "git_failed"],
    ["for-each-ref", "echo refs/heads/main; exit 0", "git_unavailable"],
    ["rev-parse", FAIL, "git_failed"],
    ["rev-parse", MUTE, "git_unavailable"],
    ["rev-parse", "echo .git; exit 0", "git_unavailable"],
    ["rev-parse", "printf '.git\\n.git\\nno\\nyes\\n\\n'; exit 0", "git_unavailable"],
  ])("of which %s answers with %s is refused, and nothing is made", async (command, instead, code) => {
    const { gitPath, spoil } = spoilt(command, instead);
    const world = worktreeWorld(gitRepository(), { gitPath });
    const before = traces(world);
    const spec = world.spec({ baseRef: "main" });
    await world.workspace.plan(spec);
    spoil();
    await failure(world.workspace.create(spec), code);
    expect(traces(world)).toEqual(before);
  });

  test.each(["rev-parse --verify", "merge-base"])(
    "whose base %s cannot compare or find is refused, not begun elsewhere",
    async (command) => {
      const upstream = gitRepository();
      const path = join(tempDir("ao-clone"), "clone");
      upstream.git("clone", "-q", upstream.path, path);
      gitIn(path, "commit", "-qm", "ahead", "--allow-empty");
      const { gitPath, spoil } = spoilt(command, FAIL);
      const world = worktreeWorld(undefined, { gitPath });
      const spec = world.spec({
        repositoryPath: path,
        baseRef: command === "merge-base" ? null : "main",
        defaultBranch: "main",
      });
      await world.workspace.plan(spec);
      spoil();
      await failure(world.workspace.plan(spec), "git_failed");
    },
  );

  test.each(["main@{u}", "@{push}", "nope@{u}", "HEAD@{100}", "^main", "main..main", "@{-9}"])(
    "from %s, which leads nowhere, is refused as missing",
    async (baseRef) => {
      const { workspace, spec } = worktreeWorld();
      await failure(workspace.plan(spec({ baseRef })), "branch_missing");
    },
  );

  test("is no plan for a new branch when the ref of the old one cannot be read", async () => {
    const world = worktreeWorld();
    writeFileSync(join(world.repository.path, ".git", "refs", "heads", "topic"), "");
    const error = await failure(world.workspace.plan(world.spec({ branch: "topic" })), "git_failed");
    expect(error.message).toContain("refs/heads/topic");
  });
});

describe("a git that says nothing to anything", () => {
  test("makes nothing, and is told from one that is not there", async () => {
    const { gitPath, spoil } = spoilt(ANYTHING, MUTE);
    const world = worktreeWorld(gitRepository(), { gitPath });
    const before = traces(world);
    const plan = await world.workspace.plan(world.spec());
    spoil();
    const error = await failure(world.workspace.create(world.spec(), plan), "git_unavailable");
    expect(error.message).toContain("said nothing");
    expect(traces(world)).toEqual(before);
    await failure(gitRepositories({ env: GIT_ENV, gitPath }).find(world.repository.path), "git_unavailable");
  });

  test("changes nothing of a session that is to be freed, undone or restored", async () => {
    const { gitPath, spoil, mend } = spoilt(ANYTHING, MUTE);
    const world = worktreeWorld(gitRepository(), { gitPath });
    const created = await world.workspace.create(world.spec());
    writeIn(created.path, "work.txt", "x");
    const before = traces(world);
    spoil();
    const { workspace } = world;
    const spec = world.spec();
    for (const call of [
      () => workspace.destroy(spec),
      () => workspace.inspect(spec),
      () => workspace.undoCreate(spec, created),
      () => workspace.restore(spec),
      () => workspace.discard(spec, { ...created, operationId: null, branchExists: false }),
    ]) {
      await failure(call(), "git_unavailable");
    }
    mend();
    expect(traces(world)).toEqual(before);
  });
});

test.each(["hangs after it has made", "is killed after it has made"])(
  "a git that %s the branch leaves none",
  async (how) => {
    const once = join(tempDir("ao-flag"), "once");
    const world = worktreeWorld(gitRepository(), { timeoutMs: 700 });
    const end = how.startsWith("hangs") ? "exec sleep 300" : "kill -9 $PPID";
    hook(
      world.repository,
      "reference-transaction",
      `[ "$1" != committed ] || [ -e '${once}' ] || { >'${once}'; ${end}; }`,
    );
    const before = traces(world);
    await failure(world.workspace.create(world.spec({ operationId: anOperationId() })), "git_unavailable");
    expect(traces(world)).toEqual(before);
  },
);

describe("a repository", () => {
  test("in a folder that cannot be reached is an error, not none", async () => {
    const loop = join(tempDir("ao-loop"), "loop");
    writeIn(join(loop, ".."), "file", "");
    symlinkSync(loop, loop);
    await failure(gitRepositories({ env: GIT_ENV }).find(loop), "git_unavailable");
    expect(await gitRepositories({ env: GIT_ENV }).find(join(loop, "..", "file", "sub"))).toBeUndefined();
  });

  test("whose .git leads nowhere is an error, not none", async () => {
    const folder = tempDir("ao-broken");
    writeIn(folder, ".git", "gitdir: /nonexistent/git\n");
    const error = await failure(gitRepositories({ env: GIT_ENV }).find(folder), "git_failed");
    expect(error.message).toContain("/nonexistent/git");
  });
});

describe("what is checked out", () => {
  test.each(["destroy", "restore"] as const)("is not read out of a failure by %s", async (method) => {
    const { gitPath, spoil } = spoilt(method === "destroy" ? "--symbolic-full-name" : "symbolic-ref", FAIL);
    const world = worktreeWorld(gitRepository(), { gitPath });
    await world.workspace.create(world.spec());
    spoil();
    const before = traces(world);
    await failure(world.workspace[method](world.spec()), "git_failed");
    expect(traces(world)).toEqual(before);
  });
});

test("a check takes no version from a git that failed", async () => {
  const gitPath = gitWrapper('echo "git version 2.39.5"; exit 1');
  expect(await worktreeWorld(gitRepository(), { gitPath }).workspace.check()).toMatchObject({
    kind: "failed",
  });
});
