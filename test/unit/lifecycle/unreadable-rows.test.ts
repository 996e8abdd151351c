import { describe, expect, test } from "vitest";
import { AoError } from "../../../src/domain/errors.ts";
import { cleanupSessions } from "../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import { prepareControl } from "../../../src/lifecycle/goals/prepare-control.ts";
import { settleGoals } from "../../../src/lifecycle/goals/settle-goals.ts";
import { getSession, listSessions } from "../../../src/lifecycle/observe/list-sessions.ts";
import { removeProject } from "../../../src/lifecycle/projects/projects.ts";
import { findOrphans } from "../../../src/lifecycle/recovery/find-orphans.ts";
import { reconcile } from "../../../src/lifecycle/recovery/reconcile.ts";
import { restoreSession } from "../../../src/lifecycle/restore/restore-session.ts";
import { planBatch } from "../../../src/lifecycle/spawn/batch-spawn.ts";
import { projectId, sessionId } from "../../support/builders.ts";
import { aWorld, type World } from "../../support/world.ts";

const GOOD = sessionId("app-1");
const BAD = sessionId("app-2");
const WHY = "its row in the store cannot be read (metadata.branch); nothing was done with it";
const pathOf = (id: string) => `/data/worktrees/app/${id}`;
const ORDER = { action: "set", objective: "all green", maxTurns: null, until: null } as const;
const EVERYTHING = { projectId: null, dryRun: false, olderThanMs: null };

/** Two live sessions, on issues 1 and 2; the row of the second cannot be read. */
async function aSpoiledWorld(): Promise<World> {
  const world = aWorld();
  await world.spawn({ issueId: "1" });
  await world.spawn({ issueId: "2" });
  world.spoil(BAD);
  world.clearLog();
  return world;
}

/** The same, both sessions over and their worktrees still there. */
async function anEndedSpoiledWorld(): Promise<World> {
  const world = aWorld();
  for (const issueId of ["1", "2"]) {
    const { id } = await world.spawn({ issueId });
    world.workspace.refuse(pathOf(id));
    await world.kill(id).catch(() => undefined);
    world.workspace.allow(pathOf(id));
  }
  world.spoil(BAD);
  world.clearLog();
  return world;
}

describe("a row that cannot be read", () => {
  test.each([true, false])("is named by a list that shows all others (stored: %s)", async (stored) => {
    const { deps } = await aSpoiledWorld();
    const { sessions, unreadable } = await listSessions(deps, { projectId: null, stored });
    expect(sessions.map(({ id }) => id)).toEqual([GOOD]);
    expect(unreadable).toEqual([{ id: BAD, projectId: "app", issueId: "2", flaw: "metadata.branch" }]);
  });

  test("is store_corrupt for who asks for that very session, and nobody else", async () => {
    const { deps } = await aSpoiledWorld();
    await expect(getSession(deps, BAD, { stored: true })).rejects.toMatchObject({
      code: "store_corrupt",
      message: expect.stringContaining("app-2 (metadata.branch)"),
    });
    expect((await getSession(deps, GOOD, { stored: false })).id).toBe(GOOD);
  });

  test("is an error of a cleanup, which frees what others allow and leaves its worktree", async () => {
    const world = await anEndedSpoiledWorld();
    const result = await cleanupSessions(world.deps, EVERYTHING);
    expect(result.cleaned).toMatchObject([{ id: GOOD }]);
    expect(result.errors).toEqual([{ id: "app-2", projectId: "app", message: WHY }]);
    expect(world.workspace.exists(pathOf(BAD))).toBe(true);
    expect(world.log.filter((call) => call.includes(BAD))).toEqual([]);
  });

  test("is no error of a cleanup of another project", async () => {
    const { deps } = await anEndedSpoiledWorld();
    const other = { ...EVERYTHING, projectId: projectId("web") };
    expect((await cleanupSessions(deps, other)).errors).toEqual([]);
  });

  test("is an error of a reconcile, and its worktree and agent are nobody's to take away", async () => {
    const world = await aSpoiledWorld();
    const { errors, orphans, observed } = await reconcile(world.deps);
    expect(errors).toEqual([{ subject: "session app-2", code: "store_corrupt", message: WHY }]);
    expect({ orphans, observed }).toEqual({ orphans: [], observed: 1 });
    expect(world.workspace.exists(pathOf(BAD))).toBe(true);
    expect(world.runtime.sessions()).toHaveLength(2);
    expect(await findOrphans(world.deps)).toEqual({ runtimes: [], workspaces: [] });
  });

  test("keeps what its agent says waiting, however old it is", async () => {
    const world = await aSpoiledWorld();
    const { launchId } = world.row(GOOD).metadata;
    const event = { sessionId: BAD, launchId, agent: "memory", event: "active", atMs: 0, body: "" };
    await world.deps.inbox.put(event);
    await reconcile(world.deps);
    expect((await world.deps.inbox.pending()).map(({ sessionId: id }) => id)).toEqual([BAD]);
  });

  test("counts as live for a batch, so that no second session takes up its issue", async () => {
    const { deps, project } = await aSpoiledWorld();
    expect(await planBatch(deps, project.id, ["2", "3"])).toEqual({
      wanted: ["3"],
      skipped: [{ issueId: "2", reason: "live_session", sessionId: "app-2" }],
    });
  });

  test("keeps its project registered", async () => {
    const world = await aSpoiledWorld();
    await world.kill(GOOD);
    await expect(removeProject(world.deps, "app")).rejects.toMatchObject({
      code: "project_in_use",
      details: { sessions: [BAD] },
    });
  });

  test("hinders no other session also while an order of its goal is unfinished", async () => {
    const world = aWorld();
    await world.spawn({ issueId: "1" });
    await world.spawn({ issueId: "2" });
    prepareControl(world.deps, BAD, { ...ORDER, subject: "one" });
    world.spoil(BAD);
    expect(await settleGoals(world.deps)).toEqual({ errors: [] });
    const { errors, observed } = await reconcile(world.deps);
    expect(errors).toContainEqual({ subject: "session app-2", code: "store_corrupt", message: WHY });
    expect(observed).toBe(1);
    expect(await world.kill(GOOD)).toMatchObject({ id: GOOD });
  });

  test("hinders neither the end nor the return of another session", async () => {
    const world = await aSpoiledWorld();
    await world.kill(GOOD);
    expect((await world.restore(GOOD)).id).toBe(GOOD);
  });
});

describe("a store that is damaged anywhere", () => {
  const damage = (world: World) =>
    world.failNext("store.verify", new AoError("store_corrupt", "the database is damaged"));

  test.each([false, true])("ends a cleanup before it removes anything (dry run: %s)", async (dryRun) => {
    const world = await anEndedSpoiledWorld();
    damage(world);
    const cleanup = cleanupSessions(world.deps, { ...EVERYTHING, dryRun });
    await expect(cleanup).rejects.toMatchObject({ code: "store_corrupt" });
    expect(world.log.filter((call) => /destroy|remove/.test(call))).toEqual([]);
  });

  test("keeps a reconcile from taking any orphan away, and from nothing else", async () => {
    const world = aWorld();
    for (const issueId of ["1", "2"]) await world.spawn({ issueId });
    const orphaned: World["deps"]["store"] = {
      ...world.deps.store,
      get: () => undefined,
      rows: () => ({ sessions: [], unreadable: [] }),
    };
    world.clearLog();
    damage(world);
    const { orphans, errors } = await reconcile({ ...world.deps, store: orphaned });
    expect(orphans.filter(({ action }) => action === "undone")).toEqual([]);
    expect(errors.map(({ subject, code }) => [subject, code])).toEqual([
      ["runtime of app-1", "store_corrupt"],
      ["runtime of app-2", "store_corrupt"],
    ]);
    expect(world.log.filter((call) => /destroy|remove/.test(call))).toEqual([]);
  });

  test("hinders no restore, which removes nothing", async () => {
    const world = await anEndedSpoiledWorld();
    damage(world);
    const { record } = await restoreSession(world.deps, GOOD, { fresh: false, settings: world.settings });
    expect(record.id).toBe(GOOD);
  });
});

describe("all of the store is read", () => {
  /** How often, while `work` runs. */
  async function checks(world: World, work: (deps: World["deps"]) => Promise<unknown>): Promise<number> {
    let count = 0;
    const verify = () => void count++;
    await work({ ...world.deps, store: { ...world.deps.store, verify } });
    return count;
  }

  test("by a reconcile only when it takes something away, and then once", async () => {
    const world = aWorld();
    await world.spawn();
    expect(await checks(world, reconcile)).toBe(0);
    const lost = async (deps: World["deps"]) => {
      const store = { ...deps.store, get: () => undefined, rows: () => ({ sessions: [], unreadable: [] }) };
      expect((await reconcile({ ...deps, store })).orphans).toHaveLength(2);
    };
    expect(await checks(world, lost)).toBe(1);
  });

  test("by a cleanup once when there is something to judge, by a restore never", async () => {
    const world = await anEndedSpoiledWorld();
    const cleanup = (deps: World["deps"]) => cleanupSessions(deps, EVERYTHING);
    expect(await checks(world, cleanup)).toBe(1);
    expect(await checks(world, cleanup)).toBe(0);
    const restore = (deps: World["deps"]) =>
      restoreSession(deps, GOOD, { fresh: false, settings: world.settings });
    expect(await checks(world, restore)).toBe(0);
  });
});
