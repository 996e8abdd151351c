import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryLocks } from "../../../../src/adapters/memory/locks.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import type { Locks } from "../../../../src/ports/locks.ts";
import { GIT_ENV, gitRepository } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { worktreeProgram } from "./worktree-program.ts";
import { anOperationId, failure, gitWrapper, traces, worktreeWorld } from "./worktree-world.ts";

/** A git that dies of another's half-written record the first `times` that it adds a worktree. */
function unluckyGit(times: number, complaint: string): string {
  const count = join(tempDir("ao-count"), "count");
  writeFileSync(count, "");
  return gitWrapper(
    `case " $* " in *" worktree add "*) echo >> '${count}'; [ $(wc -l < '${count}') -le ${times} ] && { echo "${complaint}" >&2; exit 128; };; esac`,
  );
}

const HALF_WRITTEN = "fatal: failed to read .git/worktrees/app-9/commondir: Success";

function countingLocks() {
  const locks = memoryLocks();
  const names: string[] = [];
  const withLock: Locks["withLock"] = (name, work, options) => {
    names.push(name);
    return locks.withLock(name, work, options);
  };
  return { locks: { withLock }, names };
}

describe("an add that meets the half-written record of another", () => {
  test("takes no lock while it is lucky", async () => {
    const { locks, names } = countingLocks();
    const { workspace, spec } = worktreeWorld(gitRepository(), { locks });
    await workspace.create(spec({ operationId: anOperationId() }));
    expect(names).toEqual([]);
  });

  test.each([
    HALF_WRITTEN,
    "fatal: failed to read .git/worktrees/app-9/commondir: No such file or directory",
    "fatal: Invalid path '/repo/.git/worktrees/app-9': No such file or directory",
    "fatal: could not create directory of '.git/worktrees/app-9': No such file or directory",
  ])("tries again with the repository to itself, after %s", async (complaint) => {
    const { locks, names } = countingLocks();
    const world = worktreeWorld(gitRepository(), { locks, gitPath: unluckyGit(2, complaint) });
    const { path } = await world.workspace.create(world.spec({ operationId: anOperationId() }));
    expect(existsSync(join(path, "readme.md"))).toBe(true);
    expect(names).toEqual(Array(2).fill(`worktrees of ${join(world.repository.path, ".git")}`));
  });

  test("gives up in the end, with git's own words and nothing left", async () => {
    const world = worktreeWorld(gitRepository(), { gitPath: unluckyGit(99, HALF_WRITTEN) });
    const before = traces(world);
    const error = await failure(world.workspace.create(world.spec()), "git_failed");
    expect(error.message).toContain("failed to read .git/worktrees/app-9/commondir");
    expect(traces(world)).toEqual(before);
  });

  test("any other failure is not tried again", async () => {
    const count = join(tempDir("ao-count"), "count");
    const gitPath = gitWrapper(
      `case " $* " in *" worktree add "*) echo >> '${count}'; echo "fatal: no" >&2; exit 128;; esac`,
    );
    const world = worktreeWorld(gitRepository(), { gitPath });
    await failure(world.workspace.create(world.spec()), "git_failed");
    expect(readFileSync(count, "utf8")).toBe("\n");
  });
});

test("twelve processes at once on one repository all get their worktree", async () => {
  const world = worktreeWorld();
  const start = await worktreeProgram(GIT_ENV);
  const { managedRoot, trashDir } = world;
  const locksDir = join(tempDir("ao-locks"), "locks");
  const specs = Array.from({ length: 12 }, (_, at) =>
    world.spec({
      sessionId: `app-${at + 1}` as SessionId,
      branch: `feat/${at + 1}`,
      operationId: anOperationId(),
    }),
  );
  const plans = await Promise.all(specs.map((spec) => world.workspace.plan(spec)));
  const jobs = specs.map((spec, at) => {
    const plan = plans[at] ?? expect.fail();
    return start({ method: "create", spec, plan, managedRoot, trashDir, locksDir });
  });
  expect(await Promise.all(jobs.map(({ ended }) => ended))).toEqual(specs.map(() => true));
  expect([...world.repository.worktrees()].sort()).toEqual(
    [world.repository.path, ...specs.map(({ path }) => path)].sort(),
  );
  expect((await world.workspace.marked()).every(({ flaw }) => flaw === null)).toBe(true);
}, 60_000);
