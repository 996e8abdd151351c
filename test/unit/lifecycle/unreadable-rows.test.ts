import { describe, expect, test } from "vitest";
import { AoError } from "../../../src/domain/errors.ts";
import { planBatch } from "../../../src/lifecycle/batch-spawn.ts";
import { cleanupSessions } from "../../../src/lifecycle/cleanup-sessions.ts";
import { getSession, listSessions } from "../../../src/lifecycle/list-sessions.ts";
import { removeProject } from "../../../src/lifecycle/projects.ts";
import { findOrphans } from "../../../src/lifecycle/recovery/find-orphans.ts";
import { reconcile } from "../../../src/lifecycle/recovery/reconcile.ts";
import { restoreSession } from "../../../src/lifecycle/restore-session.ts";
import { projectId, sessionId } from "../../support/builders.ts";
import { aWorld, type World } from "../../support/world.ts";

const GOOD = sessionId("app-1");
const BAD = sessionId("app-2");
const WHY = "its row in the store cannot be read (metadata.branch); nothing was done with it";
const pathOf = (id: string) => `/data/worktrees/app/${id}`;
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

  test("hinders neither the end nor the return of another session", async () => {
    const world = await aSpoiledWorld();
    await world.kill(GOOD);
    expect((await world.restore(GOOD)).id).toBe(GOOD);
  });
});

describe("a store that is damaged anywhere", () => {
  test.each<[string, (world: World) => Promise<unknown>]>([
    ["a cleanup", ({ deps }) => cleanupSessions(deps, EVERYTHING)],
    ["the dry run of a cleanup", ({ deps }) => cleanupSessions(deps, { ...EVERYTHING, dryRun: true })],
    ["a reconcile", ({ deps }) => reconcile(deps)],
    ["a restore", ({ deps, settings }) => restoreSession(deps, GOOD, { fresh: false, settings })],
  ])("ends %s before it does anything", async (_what, work) => {
    const world = await anEndedSpoiledWorld();
    const before = world.deps.changes.last();
    world.failNext("store.verify", new AoError("store_corrupt", "the database is damaged"));
    await expect(work(world)).rejects.toMatchObject({ code: "store_corrupt" });
    expect(world.log).toEqual([]);
    expect(world.deps.changes.last()).toBe(before);
  });
});
