import { describe, expect, test } from "vitest";
import { isAoError } from "../../../../src/domain/errors.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import { findOrphans } from "../../../../src/lifecycle/recovery/find-orphans.ts";
import { nameOrphans } from "../../../../src/lifecycle/recovery/judge-orphans.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { findSalvage, listSalvages } from "../../../../src/lifecycle/salvage/find-salvage.ts";
import { putBackSession } from "../../../../src/lifecycle/salvage/put-back-session.ts";
import { projectId, sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ORPHAN = sessionId("app-7");
const PATH = "/data/worktrees/app/app-7";
const REF = "refs/ao/salvage/app-7/1";
const FIX = "ao reconcile --salvage";

/** A world with a worktree of nobody that holds work; its repository may be none that `ao` knows. */
async function withOrphan(repositoryPath = "/repo/app"): Promise<World> {
  const world = aWorld();
  const ref = { projectId: projectId("app"), sessionId: ORPHAN, repositoryPath, path: PATH };
  const spec = {
    ...{ ...ref, branch: "stray/app-7", baseRef: null, defaultBranch: "main", env: {} },
    postCreate: { symlinks: [], copy: [], commands: [], timeoutMs: 1 },
    operationId: null,
  };
  await world.deps.workspace.create(spec, await world.deps.workspace.plan(spec));
  world.snapshots.work.write(PATH, "notes.txt", "mine\n");
  world.clearLog();
  return world;
}

const salvage = (deps: SessionDeps) => reconcile(deps, { salvage: true });
const effects = ({ log }: World) => log.filter((call) => /destroy|salvage/.test(call));
const saved = async ({ deps }: World) =>
  (await listSalvages(deps, { projectId: null, sessionId: null })).salvages.map(({ ref }) => ref);

/** The work is in one place, whole, and nothing is under way with it. */
async function expectKeptOnce(world: World): Promise<void> {
  expect(world.workspace.exists(PATH)).toBe(false);
  expect(await saved(world)).toEqual([REF]);
  expect(world.deps.operations.unfinished().operations).toEqual([]);
  expect((await salvage(world.deps)).orphans).toEqual([]);
}

describe("a worktree of nobody with work in it", () => {
  test("is kept, and named with the command that keeps its work aside, by reconcile and by who asks", async () => {
    const world = await withOrphan();
    const told = { kind: "worktree", sessionId: ORPHAN, fix: FIX, salvageRef: null };
    expect((await reconcile(world.deps)).orphans).toMatchObject([{ ...told, action: "kept" }]);
    expect(await nameOrphans(world.deps, await findOrphans(world.deps))).toMatchObject([
      { ...told, action: "found", detail: expect.stringMatching(/^no session has it: 1 untracked/) },
    ]);
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(await saved(world)).toEqual([]);
  });

  test("is freed once its work is kept where that is asked for, and the next time there is nothing", async () => {
    const world = await withOrphan();
    expect((await salvage(world.deps)).orphans).toMatchObject([
      { kind: "worktree", action: "salvaged", salvageRef: REF, fix: null },
    ]);
    expect(effects(world)).toEqual(["snapshots.salvage app-7", "workspace.destroy app-7"]);
    await expectKeptOnce(world);
    expect(await findSalvage(world.deps, "app-7")).toMatchObject({ ref: REF, reason: "orphan" });
  });

  test("stays with all that is in it where something in it cannot be kept", async () => {
    const world = await withOrphan();
    world.snapshots.spoil(PATH, [{ path: "pipe", why: "it is no file" }]);
    expect((await salvage(world.deps)).orphans).toMatchObject([
      { action: "kept", detail: expect.stringContaining("pipe: it is no file"), fix: null },
    ]);
    expect(effects(world)).toEqual([]);
  });

  test("stays where its repository is none that ao knows, and the hint says how it gets to know it", async () => {
    const world = await withOrphan("/repo/other");
    expect((await salvage(world.deps)).orphans).toMatchObject([
      { action: "kept", fix: `ao project add /repo/other && ${FIX}` },
    ]);
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(effects(world)).toEqual([]);
  });

  test("is told with the salvage when it is written to while that is made, and stays", async () => {
    const world = await withOrphan();
    const boundary = async (name: string) => {
      if (name === "cleanup.salvaged:after") world.snapshots.work.write(PATH, "more.txt", "late\n");
    };
    expect((await salvage({ ...world.deps, boundary })).orphans).toMatchObject([
      { action: "kept", salvageRef: REF },
    ]);
    expect(world.workspace.exists(PATH)).toBe(true);
    expect((await salvage(world.deps)).orphans).toMatchObject([
      { action: "salvaged", salvageRef: "refs/ao/salvage/app-7/2" },
    ]);
  });

  test("is freed by one of two at once, and its work is kept once", async () => {
    const world = await withOrphan();
    const both = await Promise.all([1, 2].map(() => inProcess(world, {}, salvage)));
    const orphans = both.flatMap(({ ending }) => (ending.kind === "done" ? ending.result.orphans : []));
    expect(orphans.filter(({ action }) => action === "salvaged")).toHaveLength(1);
    expect(orphans.filter(({ action }) => action === "kept")).toEqual([]);
    await expectKeptOnce(world);
  });

  test("is freed by a plain reconcile once its removal was killed at any boundary after it had begun", async () => {
    const { crossed } = await inProcess(await withOrphan(), {}, salvage);
    const names = crossed.slice(crossed.indexOf("cleanup.begin:after"));
    expect(names).toContain("cleanup.salvaged:before");
    expect(names).toContain("reconcile.complete:before");
    for (const crashAtBoundary of names) {
      const world = await withOrphan();
      const { ending } = await inProcess(world, { crashAtBoundary }, salvage);
      expect(ending).toEqual({ kind: "crashed", at: crashAtBoundary });
      const { orphans, errors } = await reconcile(world.deps);
      expect({ at: crashAtBoundary, orphans, errors }).toEqual({
        at: crashAtBoundary,
        orphans: [],
        errors: [],
      });
      await expectKeptOnce(world);
    }
  });

  test("is left alone by the recovery of its removal when a session has that very worktree by now", async () => {
    const world = await withOrphan();
    const record = await world.spawn();
    await inProcess(world, { crashAtBoundary: "cleanup.begin:after" }, salvage);
    const row = { ...record, id: ORPHAN, metadata: { ...record.metadata, workspacePath: PATH } };
    world.deps.store.insert(row);
    world.clearLog();
    expect((await reconcile(world.deps)).operations).toMatchObject([
      { kind: "cleanup", outcome: "finished" },
    ]);
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(effects(world)).toEqual([]);
  });
});

describe("the work of a worktree of nobody", () => {
  async function kept(): Promise<World> {
    const world = await withOrphan();
    await salvage(world.deps);
    await world.spawn();
    await killSession(world.deps, sessionId("app-1"), {
      ...{ reason: "manual", note: null, keepWorktree: true, callerSessionId: null },
    });
    return world;
  }

  test("goes into the worktree of a session at rest", async () => {
    const world = await kept();
    const into = sessionId("app-1");
    expect(await putBackSession(world.deps, "app-7/1", into)).toEqual({
      ...{ id: into, ref: REF, files: 1, warnings: [] },
    });
    expect(world.snapshots.work.state("/data/worktrees/app/app-1").files.get("notes.txt")).toBe("mine\n");
    expect(await saved(world)).toEqual([REF]);
  });

  test("has no session of its own, and the refusal says how to get it", async () => {
    const world = await kept();
    const error: unknown = await putBackSession(world.deps, "app-7").catch((thrown: unknown) => thrown);
    expect(isAoError(error, "session_not_found") && error.hint).toContain(
      "ao salvage restore app-7/1 --into <session>",
    );
  });

  test("never goes into a session of another repository", async () => {
    const world = await kept();
    const row = world.row(sessionId("app-1"));
    const moved = { ...row, metadata: { ...row.metadata, repositoryPath: "/repo/other" } };
    const get = (id: string) => (id === row.id ? moved : undefined);
    const deps = { ...world.deps, store: { ...world.deps.store, get } };
    await expect(putBackSession(deps, "app-7/1", row.id)).rejects.toMatchObject({
      code: "salvage_not_found",
    });
  });
});
