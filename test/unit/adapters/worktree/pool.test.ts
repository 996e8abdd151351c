import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryLocks } from "../../../../src/adapters/memory/locks.ts";
import { memoryProcessTable } from "../../../../src/adapters/memory/process-table.ts";
import { claimSpare } from "../../../../src/adapters/worktree/pool/claim-spare.ts";
import { gitSpares } from "../../../../src/adapters/worktree/pool/git-spares.ts";
import type { ProjectId, SessionId } from "../../../../src/domain/ids.ts";
import type { WorkspaceRef } from "../../../../src/ports/workspace.ts";
import { GIT_ENV, gitIn, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { worktreeProgram } from "./worktree-program.ts";
import {
  anOperationId,
  gitDirOf,
  gitWrapper,
  hook,
  markerAt,
  traces,
  worktreeWorld,
} from "./worktree-world.ts";

const OPERATION = anOperationId();

/** A repository with worktrees made ahead. */
async function poolWorld({ count = 1, gitHook = "" } = {}) {
  const world = worktreeWorld();
  const { repository, managedRoot, trashDir } = world;
  if (gitHook !== "") hook(repository, "post-checkout", gitHook);
  const processes = memoryProcessTable();
  const spares = gitSpares({ env: GIT_ENV, processes, locks: memoryLocks(), managedRoot, trashDir });
  const refOf = (number: number): WorkspaceRef => ({
    projectId: "app" as ProjectId,
    sessionId: `ao-pool-${number}` as SessionId,
    repositoryPath: repository.path,
    path: join(managedRoot, "app", `ao-pool-${number}`),
  });
  const base = () => spares.base(repository.path, null);
  for (let number = 1; number <= count; number += 1) {
    await spares.make(refOf(number), await spares.plan(refOf(number), await base(), anOperationId()));
  }
  const wanted = (number = 1) =>
    world.spec({
      ...{ sessionId: `app-${number}` as SessionId, branch: `feat/${number}` },
      ...{ operationId: number === 1 ? OPERATION : anOperationId(), mayBeSpare: true },
    });
  return { ...world, world, spares, refOf, base, wanted };
}

/** git's own name of a worktree stays with it when it is moved. */
const madeAs = (path: string) => basename(gitDirOf(path));

describe("a worktree made ahead", () => {
  test("is at the base, on no branch, marked, unlocked, and no session's", async () => {
    const { refOf, repository, workspace, spares, base } = await poolWorld();
    const { path, ...named } = refOf(1);
    expect(gitIn(path, "rev-parse", "HEAD")).toBe(repository.git("rev-parse", "main"));
    expect(gitIn(path, "branch", "--show-current")).toBe("");
    expect(existsSync(join(gitDirOf(path), "locked"))).toBe(false);
    const { baseCommit } = await base();
    expect(await workspace.marked()).toMatchObject([
      { ref: { ...named, path }, flaw: null, spare: { baseCommit } },
    ]);
    expect(await spares.flaw(refOf(1), await base())).toBeNull();
  });

  test("becomes that of a session: on its branch, clean, with the session's mark", async () => {
    const { workspace, wanted, repository, refOf } = await poolWorld();
    const made = await workspace.create(wanted());
    expect(made).toMatchObject({ path: wanted().path, branch: "feat/1", branchCreated: true, warnings: [] });
    expect(madeAs(made.path)).toBe("ao-pool-1");
    expect(gitIn(made.path, "branch", "--show-current")).toBe("feat/1");
    expect(gitIn(made.path, "status", "--porcelain", "--ignored")).toBe("");
    expect(markerAt(made.path)).toMatchObject({ sessionId: "app-1", operationId: OPERATION });
    expect(markerAt(made.path)["spare"]).toBeUndefined();
    expect(existsSync(join(gitDirOf(made.path), "locked"))).toBe(false);
    expect(existsSync(refOf(1).path)).toBe(false);
    expect([...repository.worktrees()].sort()).toEqual([repository.path, made.path].sort());
    expect(await workspace.inspect(wanted())).toEqual([]);
    await workspace.destroy(wanted());
    expect(repository.worktrees()).toEqual([repository.path]);
  });

  test("gets what the configuration puts into a worktree, as any other", async () => {
    const { workspace, wanted, repository } = await poolWorld();
    writeFileSync(join(repository.path, ".env"), "A=1\n");
    const postCreate = { ...wanted().postCreate, copy: [".env"], commands: ["echo made > made.txt"] };
    const { path } = await workspace.create({ ...wanted(), postCreate });
    expect(madeAs(path)).toBe("ao-pool-1");
    expect(readFileSync(join(path, ".env"), "utf8")).toBe("A=1\n");
    expect(await workspace.inspect(wanted())).toEqual([]);
  });

  test("tells a checkout hook of the branch, and what the hook made before does not count against it", async () => {
    const log = join(tempDir("ao-hook"), "log");
    const gitHook = `echo "on $(git branch --show-current)" >> '${log}'; echo x > made-by-hook`;
    const { workspace, wanted } = await poolWorld({ gitHook });
    const { path } = await workspace.create(wanted());
    expect(madeAs(path)).toBe("ao-pool-1");
    expect(readFileSync(log, "utf8").split("\n")).toEqual(["on ", "on feat/1", ""]);
    expect(await workspace.inspect(wanted())).toEqual([]);
  });

  const MADE_ONE_ITSELF = "app-1";
  test.each<[string, (world: Awaited<ReturnType<typeof poolWorld>>) => unknown, string | null]>([
    [
      "with an untracked file",
      ({ refOf }) => writeIn(refOf(1).path, "x", "1"),
      "something in it was changed",
    ],
    [
      "with a changed file",
      ({ refOf }) => writeIn(refOf(1).path, "readme.md", "?"),
      "something in it was changed",
    ],
    [
      "on a branch",
      ({ refOf }) => gitIn(refOf(1).path, "switch", "-qc", "mine"),
      "something in it was changed",
    ],
    [
      "at a commit that is the base no more",
      ({ repository }) => repository.git("commit", "-qm", "on", "--allow-empty"),
      "its base has moved",
    ],
    [
      "that is locked",
      ({ refOf, repository }) => repository.git("worktree", "lock", refOf(1).path),
      "it is locked",
    ],
    [
      "that somebody deleted",
      ({ refOf }) => rmSync(refOf(1).path, { recursive: true }),
      "it is gone or on its way out",
    ],
  ])("%s is not used and left as it is, and a new one is made", async (_what, spoil, flaw) => {
    const world = await poolWorld();
    await spoil(world);
    const { workspace, wanted, spares, refOf, base, repository } = world;
    const before = existsSync(refOf(1).path) && gitIn(refOf(1).path, "status", "--porcelain", "--branch");
    expect(await spares.flaw(refOf(1), await base())).toBe(flaw);
    const { path } = await workspace.create(wanted());
    expect(madeAs(path)).toBe(MADE_ONE_ITSELF);
    expect(gitIn(path, "rev-parse", "HEAD")).toBe(repository.git("rev-parse", "main"));
    expect(await spares.flaw(refOf(1), await base())).toBe(flaw);
    const after = existsSync(refOf(1).path) && gitIn(refOf(1).path, "status", "--porcelain", "--branch");
    expect(after).toBe(before);
  });

  test("is not used for a branch that exists, nor where it is not asked for", async () => {
    const { workspace, wanted, repository } = await poolWorld();
    repository.git("branch", "feat/1");
    expect(madeAs((await workspace.create(wanted())).path)).toBe("app-1");
    const { mayBeSpare: _asked, ...plain } = wanted(2);
    expect(madeAs((await workspace.create(plain)).path)).toBe("app-2");
  });

  test("goes to one of many that ask at once, and each gets a worktree", async () => {
    const { workspace, wanted, repository } = await poolWorld({ count: 2 });
    const made = await Promise.all([1, 2, 3, 4].map((number) => workspace.create(wanted(number))));
    const names = made.map(({ path }) => madeAs(path));
    expect(names.filter((name) => name.startsWith("ao-pool-")).sort()).toEqual(["ao-pool-1", "ao-pool-2"]);
    const paths = made.map(({ path }) => path);
    expect([...repository.worktrees()].sort()).toEqual([repository.path, ...paths].sort());
    for (const { path, branch } of made) expect(gitIn(path, "branch", "--show-current")).toBe(branch);
  });
});

test("two operations that claim one at the same moment: one has it", async () => {
  const { refOf } = await poolWorld();
  const record = { gitDir: gitDirOf(refOf(1).path), path: refOf(1).path };
  const claims = await Promise.all(Array.from({ length: 10 }, () => claimSpare(record, anOperationId())));
  expect(claims.filter(Boolean)).toHaveLength(1);
});

/** A git that stops for ever at the call that fits `pattern`: before it, or with it done. */
function stoppingGit(pattern: string, when: "before" | "after") {
  const reached = join(tempDir("ao-stop"), "reached");
  const stop = `{ echo $$ > '${reached}.new'; mv '${reached}.new' '${reached}'; exec sleep 60; }`;
  const body = when === "before" ? stop : `{ git "$@"; ${stop}; }`;
  return { reached, gitPath: gitWrapper(`case " $* " in ${pattern}) ${body};; esac`) };
}

describe("a taking that was killed", () => {
  test.each<[string, string, "before" | "after", "ready" | "gone"]>([
    ["before it was looked at", '*" status "*', "before", "ready"],
    ["before it was moved", '*" worktree move "*', "before", "ready"],
    ["after it was moved", '*" worktree move "*', "after", "gone"],
    ["before it was put on its branch", '*" symbolic-ref -m "*', "before", "gone"],
    ["after it was put on its branch", '*" symbolic-ref -m "*', "after", "gone"],
  ])("%s leaves nothing once it is taken back", async (_what, pattern, when, left) => {
    const { world, workspace, wanted, refOf, spares, base, managedRoot, trashDir } = await poolWorld();
    const start = await worktreeProgram(GIT_ENV);
    const { reached, gitPath } = stoppingGit(pattern, when);
    const branches = traces(world).branches;
    const plan = await workspace.plan(wanted());
    const locksDir = join(tempDir("ao-locks"), "locks");
    const making = start({
      method: "create",
      spec: wanted(),
      plan,
      managedRoot,
      trashDir,
      locksDir,
      gitPath,
    });
    await expect.poll(() => existsSync(reached), { timeout: 20_000 }).toBe(true);
    await making.kill();
    process.kill(Number(readFileSync(reached, "utf8")), "SIGKILL");
    await workspace.discard(wanted(), plan);
    expect(traces(world).branches).toBe(branches);
    expect(existsSync(wanted().path)).toBe(false);
    const isThere = existsSync(refOf(1).path);
    expect(isThere ? "ready" : "gone").toBe(left);
    if (isThere) expect(await spares.flaw(refOf(1), await base())).toBeNull();
    const { path } = await workspace.create(wanted());
    expect(madeAs(path)).toBe(isThere ? "ao-pool-1" : "app-1");
  });

  test("in the middle of git's move is taken back, also where git had begun to write where it is", async () => {
    for (const isHalfWritten of [false, true]) {
      const { workspace, wanted, refOf, repository } = await poolWorld();
      const plan = await workspace.plan(wanted());
      const gitDir = gitDirOf(refOf(1).path);
      await claimSpare({ gitDir, path: refOf(1).path }, OPERATION);
      renameSync(refOf(1).path, wanted().path);
      if (isHalfWritten) writeFileSync(join(gitDir, "gitdir"), "");
      await workspace.discard(wanted(), plan);
      expect(existsSync(wanted().path)).toBe(false);
      expect(repository.worktrees()).toEqual([repository.path]);
      expect(existsSync(gitDir)).toBe(false);
    }
  });
});

test("one that was moved to the path at an older commit is no work, and what was written in it since is", async () => {
  const { workspace, wanted, refOf, repository } = await poolWorld();
  writeIn(repository.path, "readme.md", "newer\n");
  repository.git("commit", "-qam", "on");
  const plan = await workspace.plan(wanted());
  await claimSpare({ gitDir: gitDirOf(refOf(1).path), path: refOf(1).path }, OPERATION);
  renameSync(refOf(1).path, wanted().path);
  writeIn(wanted().path, "notes.txt", "mine");
  await expect(workspace.discard(wanted(), plan)).rejects.toMatchObject({
    code: "workspace_dirty",
    details: { findings: [expect.objectContaining({ kind: "untracked", items: ["notes.txt"] })] },
  });
  rmSync(join(wanted().path, "notes.txt"));
  await workspace.discard(wanted(), plan);
  expect([existsSync(wanted().path), repository.worktrees()]).toEqual([false, [repository.path]]);
});

test("a making that was broken off at any of its marks is taken back whole", async () => {
  const { spares, refOf, base, workspace, repository, world } = await poolWorld({ count: 0 });
  const before = traces(world);
  const plan = await spares.plan(refOf(1), await base(), OPERATION);
  await spares.make(refOf(1), plan);
  const gitDir = gitDirOf(refOf(1).path);
  await claimSpare({ gitDir, path: refOf(1).path }, OPERATION);
  await workspace.discard(refOf(1), plan);
  expect(traces(world)).toEqual(before);
  expect(repository.worktrees()).toEqual([repository.path]);
});

test("a making that fails leaves nothing", async () => {
  const { spares, refOf, base, world } = await poolWorld({ count: 0 });
  hook(world.repository, "post-checkout", "git commit -q --allow-empty -m x");
  const before = traces(world);
  await expect(spares.make(refOf(1), await spares.plan(refOf(1), await base(), OPERATION))).rejects.toThrow(
    "a git hook led",
  );
  expect(traces(world)).toEqual(before);
});
