import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryLocks } from "../../../../src/adapters/memory/locks.ts";
import { gitWorktrees } from "../../../../src/adapters/worktree/git-worktrees.ts";
import { gitSpares } from "../../../../src/adapters/worktree/pool/git-spares.ts";
import { dataLayout } from "../../../../src/domain/data-layout.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { planPools, tendPools } from "../../../../src/lifecycle/pool/tend-pools.ts";
import { removeProject } from "../../../../src/lifecycle/projects/projects.ts";
import { findOrphans } from "../../../../src/lifecycle/recovery/find-orphans.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import { aProject } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { GIT_ENV, gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { aSpawnRequest, aWorld, type World } from "../../../support/world.ts";

const TICK = { projectId: null, fills: true };

/** A world whose worktrees are true ones of git; its pool is as big as `setSize` said last. */
function poolWorld(size: number) {
  const plain = aWorld();
  const repository = gitRepository();
  const dataDir = tempDir("ao-data");
  const { worktreesRoot: managedRoot, trash: trashDir } = dataLayout(dataDir);
  const { processes, locks, store } = plain.deps;
  const options = { env: GIT_ENV, processes, locks, managedRoot, trashDir };
  let wanted = size;
  store.removeProject(plain.project.id);
  const project = aProject({ repositoryPath: repository.path });
  store.insertProject(project);
  const settings = async () => ({ size: wanted, defaultBranch: null });
  const deps: SessionDeps = {
    ...plain.deps,
    dataDir,
    workspace: gitWorktrees(options),
    spares: { ...gitSpares(options), wanted: settings },
    repositories: { find: async () => ({ path: repository.path, bare: false }) },
    files: { ...plain.deps.files, exists: async (path) => existsSync(path) },
  };
  const folder = join(managedRoot, project.id);
  const names = () => (existsSync(folder) ? readdirSync(folder).sort() : []);
  const spares = () => names().filter((name) => name.startsWith("ao-pool-"));
  const request = () => {
    const asked = aSpawnRequest(project);
    return { ...asked, settings: { ...asked.settings, pool: wanted } };
  };
  return {
    ...{ deps, repository, project, names, spares, folder, request },
    world: { ...plain, deps } satisfies World,
    setSize(next: number) {
      wanted = next;
    },
  };
}

const actions = (tended: Awaited<ReturnType<typeof tendPools>>) => tended.pool.map(({ action }) => action);

describe("a tick", () => {
  test("makes what is missing, never more, and then nothing", async () => {
    const { deps, spares } = poolWorld(2);
    expect(actions(await tendPools(deps, TICK))).toEqual(["made", "made"]);
    expect(spares()).toEqual(["ao-pool-1", "ao-pool-2"]);
    expect(await tendPools(deps, TICK)).toEqual({ pool: [], errors: [] });
    expect(await findOrphans(deps)).toEqual({ runtimes: [], workspaces: [] });
    expect(deps.store.list()).toEqual([]);
  });

  test("by several at once makes no more than are asked for", async () => {
    const { deps, spares } = poolWorld(3);
    const ticks = await Promise.all(Array.from({ length: 4 }, () => tendPools(deps, TICK)));
    expect(ticks.flatMap(actions)).toEqual(["made", "made", "made"]);
    expect(spares()).toHaveLength(3);
  });

  test("tries what cannot be made again after a while that doubles, and at once from another base", async () => {
    const { deps, repository, world } = poolWorld(1);
    let tries = 0;
    const make = async () => {
      tries += 1;
      throw new Error("no room");
    };
    const full = { ...deps, spares: { ...deps.spares, make } };
    const tick = async (waitMs: number) => {
      world.clock.advance(waitMs);
      const { errors } = await tendPools(full, TICK);
      return { tries, told: errors.map(({ message }) => message) };
    };
    expect(await tick(0)).toEqual({ tries: 1, told: ["no room"] });
    expect(await tick(999)).toEqual({ tries: 1, told: [] });
    expect(await tick(1)).toEqual({ tries: 2, told: ["no room"] });
    expect(await tick(1_000)).toEqual({ tries: 2, told: [] });
    expect(await tick(1_000)).toEqual({ tries: 3, told: ["no room"] });
    repository.git("commit", "-qm", "on", "--allow-empty");
    expect(await tick(0)).toEqual({ tries: 4, told: ["no room"] });
    world.clock.advance(1_000);
    expect(actions(await tendPools(deps, TICK))).toEqual(["made"]);
  });

  test("makes them anew where the base has moved", async () => {
    const { deps, repository, folder, spares } = poolWorld(1);
    await tendPools(deps, TICK);
    repository.git("commit", "-qm", "on", "--allow-empty");
    const planned = await planPools(deps, null);
    expect(planned.pool).toMatchObject([{ action: "removed", detail: "its base has moved" }]);
    expect(spares()).toEqual(["ao-pool-1"]);
    expect(actions(await tendPools(deps, TICK))).toEqual(["removed", "made"]);
    expect(spares()).toEqual(["ao-pool-2"]);
    expect(gitIn(join(folder, "ao-pool-2"), "rev-parse", "HEAD")).toBe(repository.git("rev-parse", "main"));
  });

  test("keeps one with something in it that may be work, counts it, and says so", async () => {
    const { deps, folder, spares } = poolWorld(2);
    await tendPools(deps, TICK);
    writeIn(join(folder, "ao-pool-1"), "notes.txt", "mine\n");
    const tended = await tendPools(deps, TICK);
    expect(tended.pool).toMatchObject([{ action: "kept", detail: expect.stringContaining("notes.txt") }]);
    expect(tended.pool).toEqual((await planPools(deps, null)).pool);
    expect(spares()).toEqual(["ao-pool-1", "ao-pool-2"]);
  });

  test("removes what is more than asked for, and all where no pool is asked for any more", async () => {
    const { deps, spares, setSize, repository } = poolWorld(3);
    await tendPools(deps, TICK);
    setSize(1);
    expect(actions(await tendPools(deps, TICK))).toEqual(["removed", "removed"]);
    expect(spares()).toEqual(["ao-pool-1"]);
    setSize(0);
    expect(actions(await tendPools(deps, { projectId: null, fills: false }))).toEqual(["removed"]);
    expect(repository.worktrees()).toEqual([repository.path]);
  });

  test("tells what a pool could not be made for, and goes on with everything else", async () => {
    const { deps, repository } = poolWorld(1);
    repository.git("update-ref", "-d", "refs/heads/main");
    const result = await reconcile(deps);
    expect(result.errors).toMatchObject([{ subject: "pool of app", code: "repository_empty" }]);
  });
});

test("a project that is removed takes its worktrees made ahead with it", async () => {
  const { deps, project, repository, names } = poolWorld(2);
  await tendPools(deps, TICK);
  await removeProject(deps, project.id);
  expect(names()).toEqual([]);
  expect(repository.worktrees()).toEqual([repository.path]);
});

test("a spawn takes one, and the next tick makes another", async () => {
  const { deps, request, names, repository } = poolWorld(1);
  await tendPools(deps, TICK);
  const { record } = await spawnSession(deps, request());
  expect(names()).toEqual([record.id]);
  expect(gitIn(record.metadata.workspacePath, "branch", "--show-current")).toBe(record.metadata.branch);
  const gitDir = gitIn(record.metadata.workspacePath, "rev-parse", "--git-dir");
  expect(gitDir).toBe(join(repository.path, ".git", "worktrees", "ao-pool-1"));
  await tendPools(deps, TICK);
  expect(names()).toEqual(["ao-pool-2", record.id]);
});

/** What has to be true whatever died where. */
async function expectSound({ deps: lost, names, spares, repository, folder }: ReturnType<typeof poolWorld>) {
  // The system's locks end with their process.
  const deps = { ...lost, locks: memoryLocks() };
  const { errors, orphans } = await reconcile(deps);
  expect({ errors, orphans }).toEqual({ errors: [], orphans: [] });
  const again = await reconcile(deps);
  expect(again).toMatchObject({ operations: [], orphans: [], pool: [], errors: [] });
  const standing = deps.store.list().filter(({ metadata }) => metadata.workspaceFreedAtMs === null);
  const ids = standing.map(({ id }) => id);
  expect(spares()).toHaveLength(2);
  expect(names()).toEqual([...spares(), ...ids].sort());
  expect([...repository.worktrees()].sort()).toEqual(
    [repository.path, ...names().map((name) => join(folder, name))].sort(),
  );
  const branches = deps.store.list().map(({ metadata }) => metadata.branch);
  expect([...repository.branches()].sort()).toEqual(["main", ...branches].sort());
}

describe("killed at each boundary", () => {
  test("a filling is set right by the next tick", async () => {
    for (let crashAt = 1; ; crashAt += 3) {
      const pool = poolWorld(2);
      const run = await inProcess(pool.world, { crashAt }, (deps) => tendPools(deps, TICK));
      if (run.ending.kind === "done") break;
      expect(run.ending.kind, run.crossed.at(-1)).toBe("crashed");
      expect(pool.spares().length).toBeLessThanOrEqual(2);
      await expectSound(pool);
    }
  }, 60_000);

  test("a making anew is set right by the next tick", async () => {
    for (let crashAt = 3; ; crashAt += 5) {
      const pool = poolWorld(2);
      await tendPools(pool.deps, TICK);
      pool.repository.git("commit", "-qm", "on", "--allow-empty");
      const run = await inProcess(pool.world, { crashAt }, (deps) => tendPools(deps, TICK));
      if (run.ending.kind === "done") break;
      expect(pool.spares().length).toBeLessThanOrEqual(2);
      await expectSound(pool);
    }
  }, 60_000);

  test("a spawn that takes one is finished or taken back", async () => {
    // All of them: the crash suite.
    for (let crashAt = 3; ; crashAt += 7) {
      const pool = poolWorld(2);
      await tendPools(pool.deps, TICK);
      const run = await inProcess(pool.world, { crashAt }, (deps) => spawnSession(deps, pool.request()));
      await expectSound(pool);
      if (run.ending.kind === "done") break;
    }
  }, 60_000);
});
