import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import { type CleanupOptions, cleanupSessions } from "../../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import { forkSession } from "../../../../src/lifecycle/forks/fork-session.ts";
import { aForkRequest, aSourceWorld, SOURCE } from "../../../conformance/forks/memory-driver.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const REPOSITORY = "/repo/app";
const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";

/** A session that has ended with its worktree kept, on a branch that is merged. */
async function anEndedWorld(): Promise<World> {
  const world = aWorld();
  await world.spawn({ issueId: "1" });
  world.workspace.refuse(PATH);
  await world.kill(ID).catch(() => undefined);
  world.workspace.allow(PATH);
  world.workspace.mergeBranch(REPOSITORY, "feat/1");
  return world;
}

function cleanup({ deps }: World, overrides: Partial<CleanupOptions> = {}) {
  const options = { projectId: null, dryRun: false, olderThanMs: null, deleteMergedBranches: true };
  return cleanupSessions(deps, { ...options, ...overrides });
}

const branches = ({ workspace }: World) => workspace.branches(REPOSITORY);

describe("a cleanup that deletes merged branches", () => {
  test("says so in a dry run, then deletes the branch, and a restore makes it again where it stood", async () => {
    const world = await anEndedWorld();
    world.workspace.moveBranch(REPOSITORY, "feat/1");
    expect(await cleanup(world, { dryRun: true })).toMatchObject({ cleaned: [{ branchDeleted: "feat/1" }] });
    expect(branches(world)).toEqual(["feat/1"]);
    expect(await cleanup(world)).toMatchObject({ cleaned: [{ branchDeleted: "feat/1" }] });
    expect(branches(world)).toEqual([]);
    const commit = "1".repeat(40);
    expect(world.row(ID).metadata.deletedBranch).toEqual({ branch: "feat/1", commit });
    world.runtime.failNext("create", new AoError("runtime_unavailable", "no tmux"));
    await world.restore(ID).catch(() => undefined);
    expect(branches(world)).toEqual([]);
    const { metadata } = await world.restore(ID);
    expect([metadata.branch, metadata.deletedBranch]).toEqual(["feat/1", null]);
    expect(branches(world)).toEqual(["feat/1"]);
  });

  test("deletes that of a fork as well", async () => {
    const world = await aSourceWorld();
    const { record } = await forkSession(world.deps, SOURCE, aForkRequest(world));
    const { branch, workspacePath } = record.metadata;
    world.snapshots.work.write(workspacePath, "notes.txt", null);
    await world.kill(record.id);
    world.workspace.mergeBranch(REPOSITORY, branch);
    expect(branches(world)).toContain(branch);
    await cleanup(world);
    expect(branches(world)).not.toContain(branch);
  });

  test.each<[string, (world: World) => Partial<CleanupOptions> | undefined]>([
    ["nobody asked for it", () => ({ deleteMergedBranches: false })],
    [
      "another session has it",
      (world) => {
        const row = world.row(ID);
        world.deps.store.insert({ ...row, id: sessionId("app-9") });
        world.deps.store.save(
          { ...world.row(sessionId("app-9")), metadata: { ...row.metadata, workspaceFreedAtMs: 1 } },
          row.lifecycle.revision,
        );
        return undefined;
      },
    ],
    [
      "a person switched to a branch of their own",
      ({ workspace }) => {
        workspace.switchTo(PATH, "mine");
        workspace.mergeBranch(REPOSITORY, "mine");
        return undefined;
      },
    ],
    [
      "it moves after it was proven merged",
      ({ workspace }) => ({
        onStep: (step) => step.startsWith("freeing") && workspace.moveBranch(REPOSITORY, "feat/1"),
      }),
    ],
  ])("keeps it when %s, and frees the worktree", async (_when, arrange) => {
    const world = await anEndedWorld();
    const overrides = arrange(world);
    expect(await cleanup(world, overrides)).toMatchObject({ cleaned: [{ id: ID, branchDeleted: null }] });
    expect(branches(world)).toContain("feat/1");
  });

  test("keeps one that was there before, and one that is not merged", async () => {
    const world = aWorld();
    world.workspace.addBranch(REPOSITORY, "feat/1");
    for (const issueId of ["1", "2"]) {
      const { id } = await world.spawn({ issueId });
      const path = `/data/worktrees/app/${id}`;
      world.workspace.refuse(path);
      await world.kill(id).catch(() => undefined);
      world.workspace.allow(path);
    }
    world.workspace.mergeBranch(REPOSITORY, "feat/1");
    const { cleaned } = await cleanup(world);
    expect(cleaned.map(({ branchDeleted }) => branchDeleted)).toEqual([null, null]);
    expect(branches(world)).toEqual(["feat/1", "feat/2"]);
  });

  test("names a branch that could not be deleted; the worktree is free all the same", async () => {
    const world = await anEndedWorld();
    world.workspace.failNext("deleteMerged", new AoError("git_failed", "a lock is held"));
    expect(await cleanup(world)).toMatchObject({
      cleaned: [{ id: ID, branchDeleted: null }],
      errors: [{ id: ID, message: "its branch could not be deleted: a lock is held" }],
    });
    expect(world.workspace.exists(PATH)).toBe(false);
    expect(branches(world)).toEqual(["feat/1"]);
  });

  test("that died before the end is finished by the next command", async () => {
    const world = await anEndedWorld();
    const boundary = async (point: string) => {
      if (point === "cleanup.branch.delete:after") throw new Error("killed");
    };
    const dying = { ...world.deps, boundary };
    await cleanupSessions(dying, {
      ...{ projectId: null, dryRun: false, olderThanMs: null, deleteMergedBranches: true },
    }).catch(() => undefined);
    expect(branches(world)).toEqual([]);
    await cleanup(world);
    const { workspaceFreedAtMs, deletedBranch } = world.row(ID).metadata;
    expect([workspaceFreedAtMs !== null, deletedBranch?.branch]).toEqual([true, "feat/1"]);
    expect((await world.restore(ID)).metadata.branch).toBe("feat/1");
  });
});

/** A session that a kill has freed, on a branch that was merged then. */
async function aFreedWorld({ isMerged = true } = {}): Promise<World> {
  const world = aWorld();
  await world.spawn({ issueId: "1" });
  await world.kill(ID);
  if (isMerged) world.workspace.mergeBranch(REPOSITORY, "feat/1");
  return world;
}

describe("of a session whose worktree was freed before", () => {
  test("the branch is named by a dry run and goes alone, once, and a restore makes it again", async () => {
    const world = await aFreedWorld();
    const branchesDeleted = [{ id: ID, projectId: "app", branch: "feat/1" }];
    const told = { cleaned: [], branchesDeleted, skipped: [], errors: [] };
    expect(await cleanup(world, { dryRun: true })).toEqual({ ...told, dryRun: true });
    expect(branches(world)).toEqual(["feat/1"]);
    expect(await cleanup(world)).toEqual({ ...told, dryRun: false });
    expect(branches(world)).toEqual([]);
    expect(await cleanup(world)).toMatchObject({ branchesDeleted: [], skipped: [] });
    expect((await world.restore(ID)).metadata.branch).toBe("feat/1");
    expect(branches(world)).toEqual(["feat/1"]);
  });

  test.each<[string, Partial<CleanupOptions>, ((world: World) => Promise<unknown>)?]>([
    ["nobody asked for it", { deleteMergedBranches: false }],
    ["it ended too recently", { olderThanMs: 1_000_000 }],
    ["another session has it", {}, (world) => world.spawn({ branch: "feat/1" })],
    [
      "a person works on it",
      {},
      async ({ workspace, spawn }) => {
        await spawn({ issueId: "2" });
        workspace.switchTo("/data/worktrees/app/app-2", "feat/1");
      },
    ],
  ])("the branch stays, and nothing is told, when %s", async (_when, overrides, arrange) => {
    const world = await aFreedWorld();
    await arrange?.(world);
    expect(await cleanup(world, overrides)).toMatchObject({ branchesDeleted: [], skipped: [], errors: [] });
    expect(branches(world)).toContain("feat/1");
  });

  test("a branch that is merged nowhere stays, and nothing is told", async () => {
    const world = await aFreedWorld({ isMerged: false });
    expect(await cleanup(world)).toMatchObject({ branchesDeleted: [], skipped: [], errors: [] });
    expect(branches(world)).toEqual(["feat/1"]);
  });

  test("a branch that moves after it was proven merged stays, which is told, and goes another time", async () => {
    const world = await aFreedWorld();
    const onStep = (step: string) =>
      step.startsWith("freeing") && world.workspace.moveBranch(REPOSITORY, "feat/1");
    expect(await cleanup(world, { onStep })).toMatchObject({
      branchesDeleted: [],
      skipped: [{ id: ID, reason: "unknown" }],
    });
    expect(branches(world)).toEqual(["feat/1"]);
    expect(world.row(ID).metadata.deletedBranch).toBeNull();
    expect(await cleanup(world)).toMatchObject({ branchesDeleted: [{ id: ID }] });
  });

  test("one that was restored meanwhile keeps it", async () => {
    const world = await aFreedWorld();
    const { workspace } = world.deps;
    const mergedBranch: typeof workspace.mergedBranch = async (...asked) => {
      const proven = await workspace.mergedBranch(...asked);
      await world.restore(ID);
      return proven;
    };
    const deps = { ...world.deps, workspace: { ...workspace, mergedBranch } };
    expect(await cleanup({ ...world, deps })).toMatchObject({
      branchesDeleted: [],
      skipped: [{ id: ID, reason: "operation_in_progress" }],
    });
    expect(branches(world)).toEqual(["feat/1"]);
  });

  test("a branch that could not be deleted is an error, and no other session's trouble", async () => {
    const world = await aFreedWorld();
    world.workspace.failNext("deleteMerged", new AoError("git_failed", "a lock is held"));
    expect(await cleanup(world)).toMatchObject({ branchesDeleted: [], errors: [{ id: ID }] });
    expect(await cleanup(world)).toMatchObject({ branchesDeleted: [{ id: ID }], errors: [] });
  });

  test("a branch of which git could not say whether it went is looked at again", async () => {
    const world = await aFreedWorld();
    world.workspace.failNext("deleteMerged", new AoError("git_unavailable", "git did not answer"));
    await cleanup(world).catch(() => undefined);
    expect(branches(world)).toEqual(["feat/1"]);
    expect(await cleanup(world)).toMatchObject({ branchesDeleted: [{ id: ID }], errors: [] });
    expect(branches(world)).toEqual([]);
    expect(world.row(ID).metadata.deletedBranch).toEqual({ branch: "feat/1", commit: expect.any(String) });
  });

  test.each(["before", "after"])(
    "a cleanup that dies %s the deletion is finished by the next command",
    async (edge) => {
      const world = await aFreedWorld();
      const boundary = async (point: string) => {
        if (point === `cleanup.branch.delete:${edge}`) throw new Error("killed");
      };
      await cleanup({ ...world, deps: { ...world.deps, boundary } }).catch(() => undefined);
      await cleanup(world);
      expect(branches(world)).toEqual([]);
      expect(world.row(ID).metadata.deletedBranch?.branch).toBe("feat/1");
    },
  );
});
