import { describe, expect, test } from "vitest";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";

/** A world with one session that was killed and its worktree freed. */
async function aFreedWorld(): Promise<World> {
  const world = aWorld();
  await world.spawn();
  await world.kill(ID);
  return world;
}

/** Restores; the boundary of this name fails. */
async function restoreFailingAt(world: World, point: string): Promise<unknown> {
  const boundary = async (name: string) => {
    if (name === point) throw new Error(`no luck at ${point}`);
  };
  const deps = { ...world.deps, boundary };
  return restoreSession(deps, ID, { fresh: false, settings: world.settings }).catch(
    (error: unknown) => error,
  );
}

async function pointsOfRestore(): Promise<readonly string[]> {
  const crossed: string[] = [];
  const world = await aFreedWorld();
  const deps = { ...world.deps, boundary: async (name: string) => void crossed.push(name) };
  await restoreSession(deps, ID, { fresh: false, settings: world.settings });
  return crossed.filter((name) => name.startsWith("restore."));
}

const POINTS = await pointsOfRestore();

describe("a restore that fails", () => {
  test("has points to fail at", () => {
    expect(POINTS).toContain("restore.workspace.restore:after");
    expect(POINTS.length).toBeGreaterThan(10);
  });

  test.each(POINTS)("at %s leaves a row that says whether there is a worktree", async (point) => {
    const world = await aFreedWorld();
    const error = await restoreFailingAt(world, point);
    expect(error).toBeInstanceOf(Error);
    const { workspaceFreedAtMs, workspacePath } = world.row(ID).metadata;
    expect(workspaceFreedAtMs === null).toBe(world.workspace.exists(PATH));
    expect(workspacePath).toBe(PATH);
  });

  test.each(POINTS)("at %s and finds work in the worktree it made says so", async (point) => {
    const world = await aFreedWorld();
    world.workspace.refuse(PATH);
    await restoreFailingAt(world, point);
    expect(world.row(ID).metadata.workspaceFreedAtMs === null).toBe(world.workspace.exists(PATH));
  });

  test.each(POINTS.slice(POINTS.indexOf("restore.planned:after")))(
    "at %s leaves on record what stood there though the row did not say so",
    async (point) => {
      const world = await aFreedWorld();
      const { projectId, metadata } = world.row(ID);
      const spec = { ...metadata, projectId, sessionId: ID, path: PATH, defaultBranch: "main" };
      const { postCreate } = world.settings;
      const wanted = { ...spec, postCreate, env: {}, operationId: null };
      await world.deps.workspace.restore(wanted, await world.deps.workspace.planRestore(wanted));
      await restoreFailingAt(world, point);
      expect(world.workspace.exists(PATH)).toBe(true);
      expect(world.row(ID).metadata.workspaceFreedAtMs).toBeNull();
    },
  );
});
