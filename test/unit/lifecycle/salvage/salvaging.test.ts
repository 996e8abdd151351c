import { describe, expect, test } from "vitest";
import { AoError, isAoError } from "../../../../src/domain/errors.ts";
import { isTerminal } from "../../../../src/domain/lifecycle.ts";
import { type CleanupOptions, cleanupSessions } from "../../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import { type KillOptions, killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import type { KillResult } from "../../../../src/lifecycle/kill/kill-steps.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import type { RestoreOptions } from "../../../../src/lifecycle/restore/restore-options.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";
const REF = "refs/ao/salvage/app-1/1";

const KILL: KillOptions = {
  ...{ reason: "manual", note: null, keepWorktree: false, callerSessionId: null, salvage: true },
};

function kill({ deps }: World, overrides: Partial<KillOptions> = {}): Promise<KillResult> {
  return killSession(deps, ID, { ...KILL, ...overrides });
}

function cleanup({ deps }: World, overrides: Partial<CleanupOptions> = {}) {
  const options = { projectId: null, dryRun: false, olderThanMs: null, salvage: true };
  return cleanupSessions(deps, { ...options, ...overrides });
}

function restore({ deps, settings }: World, overrides: Partial<RestoreOptions> = {}) {
  return restoreSession(deps, ID, { fresh: false, settings, ...overrides });
}

/** A world with one live session that has work in its worktree. */
async function aWorkedWorld(): Promise<World> {
  const world = aWorld();
  await world.spawn();
  world.snapshots.work.write(PATH, "notes.txt", "mine\n");
  world.clearLog();
  return world;
}

/** The same, killed with its worktree left as it is. */
async function aKilledWorld(): Promise<World> {
  const world = await aWorkedWorld();
  await kill(world, { keepWorktree: true });
  world.clearLog();
  return world;
}

const notes = ({ snapshots }: World) => snapshots.work.state(PATH).files.get("notes.txt");

async function failure(promise: Promise<unknown>): Promise<AoError> {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  if (isAoError(error)) return error;
  throw new Error(`expected an AoError, got ${JSON.stringify(error)}`, { cause: error });
}

describe("a kill that keeps work", () => {
  test("keeps it after the agent's end, and frees the worktree then", async () => {
    const world = await aWorkedWorld();
    expect(await kill(world)).toEqual({
      ...{ id: "app-1", workspaceFreed: true, alreadyTerminated: false },
      ...{ salvageRef: REF, workspacePath: null, queuedMessages: 0 },
    });
    const steps = world.log.filter((call) => !call.startsWith("store.") && !call.startsWith("files."));
    expect(steps.slice(1)).toEqual([
      "runtime.destroy app-1",
      "snapshots.salvage app-1",
      "workspace.destroy app-1",
    ]);
    expect(world.row(ID).metadata.salvageRef).toBe(REF);
    expect(await world.deps.snapshots.list("/repo/app")).toMatchObject([{ ref: REF, reason: "kill" }]);
  });

  test("makes no salvage of a worktree without work", async () => {
    const world = aWorld();
    await world.spawn();
    expect(await kill(world)).toMatchObject({ salvageRef: null, workspaceFreed: true });
    expect(world.row(ID).metadata.salvageRef).toBeNull();
  });

  test("says again where it is when it is repeated", async () => {
    const world = await aWorkedWorld();
    await kill(world, { requestId: "request-1" });
    for (const requestId of ["request-1", "request-2"]) {
      expect(await kill(world, { requestId })).toMatchObject({ salvageRef: REF, workspaceFreed: true });
    }
  });

  test("leaves a worktree with something that cannot be kept, and says what", async () => {
    const world = await aWorkedWorld();
    world.snapshots.spoil(PATH, [{ path: "pipe", why: "it is neither file, folder nor link" }]);
    const error = await failure(kill(world));
    expect(error).toMatchObject({
      code: "workspace_dirty",
      details: { salvageRef: null, workspacePath: PATH },
    });
    expect(error.message).toContain("pipe: it is neither file, folder nor link");
    expect(isTerminal(world.row(ID).lifecycle)).toBe(true);
    expect(notes(world)).toBe("mine\n");
  });

  test("leaves a worktree that somebody uses, and says where its work is kept all the same", async () => {
    const world = await aWorkedWorld();
    const inUse = { kind: "in_use", detail: "1 process in it", items: ["7 vim"], count: 1 } as const;
    world.workspace.refuse(PATH, [inUse]);
    const error = await failure(kill(world));
    expect(error).toMatchObject({
      code: "workspace_dirty",
      details: { salvageRef: REF, workspaceFreed: false },
    });
    expect(world.workspace.exists(PATH)).toBe(true);
  });

  test("frees what an earlier kill has left", async () => {
    const world = await aKilledWorld();
    expect(await kill(world, { salvage: false })).toMatchObject({ workspaceFreed: false, salvageRef: null });
    expect(await kill(world)).toMatchObject({
      salvageRef: REF,
      alreadyTerminated: true,
      workspaceFreed: true,
    });
  });

  test("offers to keep the work of a worktree that has to stay", async () => {
    const error = await failure(kill(await aWorkedWorld(), { salvage: false }));
    expect(error.hint).toContain("ao kill app-1 --salvage");
  });
});

describe("a restore", () => {
  test("puts the work back that was kept, once", async () => {
    const world = await aWorkedWorld();
    await kill(world);
    expect(await restore(world)).toMatchObject({ salvageRef: REF, warnings: [] });
    expect(notes(world)).toBe("mine\n");
    expect(world.row(ID).metadata.salvageRef).toBeNull();
    world.snapshots.work.write(PATH, "notes.txt", null);
    expect(await kill(world)).toMatchObject({ salvageRef: null });
    expect(await restore(world)).toMatchObject({ salvageRef: null });
    expect(notes(world)).toBeUndefined();
  });

  test("that cannot put it back leaves the session as it was", async () => {
    const world = await aWorkedWorld();
    await kill(world);
    const conflict = new AoError("salvage_conflict", "HEAD: branch feat/1 was at a and is at b");
    world.snapshots.failNext("putBack", conflict);
    const error = await failure(restore(world));
    expect(error).toMatchObject({ code: "salvage_conflict", details: { salvageRef: REF } });
    expect(error.hint).toContain("--no-salvage");
    expect(isTerminal(world.row(ID).lifecycle)).toBe(true);
    expect(world.workspace.exists(PATH)).toBe(false);
    expect(await restore(world)).toMatchObject({ salvageRef: REF });
    expect(notes(world)).toBe("mine\n");
  });

  test("comes back without it when it is told to, and the salvage stays", async () => {
    const world = await aWorkedWorld();
    await kill(world);
    expect(await restore(world, { salvage: false })).toMatchObject({ salvageRef: null });
    expect(notes(world)).toBeUndefined();
    expect(world.row(ID).metadata.salvageRef).toBeNull();
    expect(await world.deps.snapshots.list("/repo/app")).toHaveLength(1);
  });

  test("says that work which somebody dropped is not put back", async () => {
    const world = await aWorkedWorld();
    await kill(world);
    await world.deps.snapshots.drop("/repo/app", REF);
    const asked = { requestId: "again" };
    const told = { salvageRef: null, warnings: [expect.stringContaining(REF)] };
    expect(await restore(world, asked)).toMatchObject(told);
    expect(await restore(world, asked)).toMatchObject(told);
  });

  test("whose agent cannot start takes the worktree away again: all of it is kept", async () => {
    const world = await aWorkedWorld();
    await kill(world);
    world.runtime.failNext("create", new AoError("agent_start_failed", "no"));
    expect((await failure(restore(world))).code).toBe("agent_start_failed");
    expect(world.workspace.exists(PATH)).toBe(false);
    expect(world.row(ID).metadata.salvageRef).toBe(REF);
    await restore(world);
    expect(notes(world)).toBe("mine\n");
  });
});

describe("a cleanup that keeps work", () => {
  test("frees what its dry run names, and says where the work is", async () => {
    const world = await aKilledWorld();
    expect(await cleanup(world, { salvage: false })).toMatchObject({
      cleaned: [],
      skipped: [{ reason: "untracked" }],
    });
    expect(await cleanup(world, { dryRun: true })).toMatchObject({
      cleaned: [{ id: "app-1", salvageRef: null }],
    });
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(await cleanup(world)).toMatchObject({ cleaned: [{ id: "app-1", salvageRef: REF }], skipped: [] });
    expect(world.row(ID).metadata.salvageRef).toBe(REF);
    expect(await world.deps.snapshots.list("/repo/app")).toMatchObject([{ ref: REF, reason: "cleanup" }]);
  });

  test.each([true, false])("skips what cannot be kept, in a dry run or not (%s)", async (dryRun) => {
    const world = await aKilledWorld();
    world.snapshots.spoil(PATH, [{ path: "pipe", why: "it is neither file, folder nor link" }]);
    const { skipped } = await cleanup(world, { dryRun });
    expect(skipped).toMatchObject([{ reason: "unknown", detail: expect.stringContaining("pipe") }]);
    expect(notes(world)).toBe("mine\n");
  });

  test("tells of a worktree that keeps changing as of an error, and leaves it", async () => {
    const world = await aKilledWorld();
    world.snapshots.failNext("salvage", new AoError("busy", "it keeps changing"));
    expect(await cleanup(world)).toMatchObject({ cleaned: [], errors: [{ message: "it keeps changing" }] });
    expect(await cleanup(world)).toMatchObject({ cleaned: [{ id: "app-1" }] });
  });
});

describe("work is kept and comes back whole, wherever its command is killed:", () => {
  interface Scenario {
    readonly name: string;
    arrange(): Promise<World>;
    act(world: World): Promise<unknown>;
  }

  const scenarios: readonly Scenario[] = [
    { name: "kill", arrange: aWorkedWorld, act: (world: World) => kill(world, { requestId: "request-1" }) },
    { name: "cleanup", arrange: aKilledWorld, act: (world: World) => cleanup(world) },
  ];

  test.each(scenarios)("$name", async ({ arrange, act }) => {
    const whole = await inProcess(await arrange(), {}, (deps) => act({ ...aWorld(), deps } as World));
    expect(whole.ending.kind).toBe("done");
    for (let crashAt = 1; crashAt <= whole.crossed.length; crashAt += 1) {
      const world = await arrange();
      const run = await inProcess(world, { crashAt }, (deps) => act({ ...world, deps }));
      expect(run.ending).toMatchObject({ kind: "crashed" });
      await inProcess(world, {}, reconcile);
      await act(world);
      const where = `killed at ${whole.crossed[crashAt - 1]}`;
      expect(world.workspace.exists(PATH), where).toBe(false);
      expect(await world.deps.snapshots.list("/repo/app"), where).toHaveLength(1);
      expect(world.row(ID).metadata.salvageRef, where).toBe(REF);
      await restore(world);
      expect(notes(world), where).toBe("mine\n");
    }
  });

  test("restore", async () => {
    const arrange = async () => {
      const world = await aWorkedWorld();
      await kill(world);
      return world;
    };
    const act = (world: World) => restore(world, { requestId: "request-1" });
    const first = await arrange();
    const whole = await inProcess(first, {}, (deps) => act({ ...first, deps }));
    for (let crashAt = 1; crashAt <= whole.crossed.length; crashAt += 1) {
      const world = await arrange();
      await inProcess(world, { crashAt }, (deps) => act({ ...world, deps }));
      await inProcess(world, {}, reconcile);
      await act(world);
      const where = `killed at ${whole.crossed[crashAt - 1]}`;
      expect(notes(world), where).toBe("mine\n");
      expect(isTerminal(world.row(ID).lifecycle), where).toBe(false);
      expect(await world.deps.snapshots.list("/repo/app"), where).toHaveLength(1);
    }
  });
});
