import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import { isTerminal } from "../../../../src/domain/lifecycle.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { type KillOptions, killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";
const REF = "refs/ao/salvage/app-1/1";
const KILL: KillOptions = {
  ...{ reason: "manual", note: null, keepWorktree: false, callerSessionId: null, salvage: true },
};
const BUSY = new AoError("store_busy", "the store is locked");

const kill = (deps: SessionDeps, overrides: Partial<KillOptions> = {}) =>
  killSession(deps, ID, { ...KILL, ...overrides });
const restore = (deps: SessionDeps, { settings }: World) =>
  restoreSession(deps, ID, { fresh: false, settings });
const notes = ({ snapshots }: World) => snapshots.work.state(PATH).files.get("notes.txt");

async function aWorkedWorld(): Promise<World> {
  const world = aWorld();
  await world.spawn();
  world.snapshots.work.write(PATH, "notes.txt", "mine\n");
  return world;
}

describe("a kill whose worktree is gone and whose row cannot be told", () => {
  test("says so, with where its work is; the next one finishes it, and a restore has the work", async () => {
    const world = await aWorkedWorld();
    world.failNext("store.save", BUSY, 1);
    await expect(kill(world.deps)).rejects.toMatchObject({
      code: "teardown_incomplete",
      message: `the worktree of session app-1 was freed, its work is kept in ${REF}, and a step after that failed: the store is locked`,
      details: { code: "store_busy", workspaceFreed: true, salvageRef: REF, workspacePath: null },
    });
    expect(world.workspace.exists(PATH)).toBe(false);
    expect(await kill(world.deps)).toMatchObject({ workspaceFreed: true, salvageRef: REF });
    expect((await restore(world.deps, world)).salvageRef).toBe(REF);
    expect(notes(world)).toBe("mine\n");
  });
});

describe("a kill whose worktree cannot be freed for good", () => {
  const stuck = () => new AoError("teardown_incomplete", "it is mounted");

  test("holds up no restore, which takes the worktree as it stands", async () => {
    const world = await aWorkedWorld();
    for (let tries = 0; tries < 3; tries++) world.workspace.failNext("destroy", stuck());
    await expect(kill(world.deps)).rejects.toMatchObject({ code: "teardown_incomplete" });
    await reconcile(world.deps);
    const { record } = await restore(world.deps, world);
    expect(isTerminal(record.lifecycle)).toBe(false);
    expect(notes(world)).toBe("mine\n");
    expect(world.deps.operations.unfinished().operations).toEqual([]);
  });

  test("gives way to another kill, which tells its own failure and may keep the worktree", async () => {
    const world = await aWorkedWorld();
    for (let tries = 0; tries < 4; tries++) world.workspace.failNext("destroy", stuck());
    await kill(world.deps).catch(() => undefined);
    await expect(kill(world.deps)).rejects.toMatchObject({ message: expect.stringContaining("mounted") });
    const kept = { keepWorktree: true, salvage: false };
    expect(await kill(world.deps, kept)).toMatchObject({ alreadyTerminated: true, workspacePath: PATH });
    expect(world.deps.operations.unfinished().operations).toEqual([]);
  });

  test("does not give way while its agent may still run", async () => {
    const world = await aWorkedWorld();
    const alive = new AoError("teardown_incomplete", "process 7 lives");
    for (let tries = 0; tries < 2; tries++) world.runtime.failNext("destroy", alive);
    await kill(world.deps).catch(() => undefined);
    await expect(restore(world.deps, world)).rejects.toMatchObject({
      code: "operation_in_progress",
      message: expect.stringContaining("process 7 lives"),
    });
    world.clock.advance(10_000);
    await reconcile(world.deps);
    expect(world.runtime.sessions()).toEqual([]);
  });
});

test("a kill that another process finished meanwhile says that, and not that the worktree stays", async () => {
  const world = await aWorkedWorld();
  const sleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
  const boundary = async (name: string) => {
    if (name !== "kill.workspace.destroy:before") return;
    world.clock.advance(31_000);
    await reconcile(world.deps);
  };
  const overtaken = { ...world.deps, clock: { ...world.deps.clock, sleep }, boundary };
  await expect(kill(overtaken)).rejects.toMatchObject({ code: "operation_in_progress" });
  expect(world.row(ID).metadata.salvageRef).toBe(REF);
});

test("a restore whose agent cannot be told of fences is done, with a warning", async () => {
  const world = await aWorkedWorld();
  await kill(world.deps);
  const fences: SessionDeps["goals"]["fences"] = (id) => {
    if (!isTerminal(world.row(id).lifecycle)) throw BUSY;
    return world.deps.goals.fences(id);
  };
  const deps = { ...world.deps, goals: { ...world.deps.goals, fences } };
  const { warnings } = await restore(deps, world);
  expect(warnings).toEqual([expect.stringContaining("the store is locked")]);
  expect(world.runtime.sessions()).toEqual([ID]);
});
