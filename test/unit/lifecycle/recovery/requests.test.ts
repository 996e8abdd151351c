import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import { killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import type { SpawnRequest } from "../../../../src/lifecycle/spawn/spawn-request.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import { sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aSpawnRequest, aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";

const spawn = ({ deps, project }: World, overrides: Partial<SpawnRequest> = {}) =>
  spawnSession(deps, aSpawnRequest(project, { requestId: "request-1", ...overrides }));

const kill = ({ deps }: World, overrides: { readonly note?: string; readonly waitMs?: number } = {}) =>
  killSession(deps, ID, {
    ...{ reason: "manual", note: null, keepWorktree: false, callerSessionId: null },
    ...{ requestId: "request-1", ...overrides },
  });

const restore = (world: World, waitMs = 0) =>
  restoreSession(world.deps, ID, { fresh: false, settings: world.settings, requestId: "request-2", waitMs });

describe("a request that is made again", () => {
  test("returns the session that the first one made, and does nothing", async () => {
    const world = aWorld();
    const first = await spawn(world);
    world.agent.setPresence({ kind: "missing", hint: "install it" });
    world.clearLog();
    expect(await spawn(world)).toEqual(first);
    expect(world.log).toEqual([]);
    expect(world.deps.store.allocateSessionNumber("app")).toBe(2);
  });

  test("with other arguments is a conflict, and does nothing", async () => {
    const world = aWorld();
    await spawn(world);
    await expect(spawn(world, { prompt: "another" })).rejects.toMatchObject({ code: "request_conflict" });
    expect(world.deps.store.list()).toHaveLength(1);
  });

  test("while the first one is under way is refused, with who is at it", async () => {
    const world = aWorld();
    const first = spawn(world);
    await Promise.resolve();
    const second = await spawn(world).catch((error: unknown) => error);
    expect(await first).toMatchObject({ record: { id: "app-1" } });
    expect(second).toMatchObject({ code: "operation_in_progress", details: { kind: "spawn" } });
    expect(world.deps.store.list()).toHaveLength(1);
  });

  test("after it failed is carried out anew", async () => {
    const world = aWorld();
    world.runtime.failNext("create", new AoError("runtime_unavailable", "no"));
    await expect(spawn(world)).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect((await spawn(world)).record.id).toBe("app-2");
    expect((await spawn(world)).record.id).toBe("app-2");
  });

  test("without an id is another request", async () => {
    const world = aWorld();
    await world.spawn({ issueId: "1" });
    expect((await world.spawn({ issueId: "2" })).id).toBe("app-2");
  });

  test("of a kill returns its result, also once the session was restored", async () => {
    const world = aWorld();
    await world.spawn();
    const first = await kill(world);
    await restore(world);
    expect(await kill(world)).toEqual(first);
    expect(world.runtime.sessions()).toEqual([ID]);
    await expect(kill(world, { note: "x" })).rejects.toMatchObject({ code: "request_conflict" });
  });

  test("of a kill that was refused the worktree is refused in the same words", async () => {
    const world = aWorld();
    await world.spawn();
    world.workspace.refuse(PATH);
    const first: unknown = await kill(world).catch((error: unknown) => error);
    world.workspace.allow(PATH);
    const second: unknown = await kill(world).catch((error: unknown) => error);
    const told = ({ code, message, hint, details }: AoError) => ({ code, message, hint, details });
    expect(first instanceof AoError && second instanceof AoError && told(second)).toEqual(
      first instanceof AoError && told(first),
    );
    expect(world.workspace.exists(PATH)).toBe(true);
  });

  test("of a restore returns the session as it is now", async () => {
    const world = aWorld();
    await world.spawn();
    await world.kill(ID);
    const { record } = await restore(world);
    world.clearLog();
    expect((await restore(world)).record).toEqual(record);
    expect(world.log).toEqual([]);
  });
});

describe("a command on a session that is busy", () => {
  test("waits for the other when it may, and works with what that left", async () => {
    const world = aWorld();
    await world.spawn();
    const [killed, restored] = await Promise.all([kill(world), restore(world, 60_000)]);
    expect(killed.workspaceFreed).toBe(true);
    expect(restored.record.lifecycle.session.state).toBe("not_started");
    expect(world.runtime.sessions()).toEqual([ID]);
  });

  test("gives up waiting in the end", async () => {
    const world = aWorld();
    await world.spawn();
    void kill({ ...world, deps: { ...world.deps, boundary: stuckAt("kill.begin:after") } });
    await expect.poll(() => world.deps.operations.unfinished().operations).toHaveLength(1);
    await expect(restore(world, 5_000)).rejects.toMatchObject({ code: "operation_in_progress" });
  });

  test("takes over at once when the holder is dead", async () => {
    const world = aWorld();
    await world.spawn();
    const run = await inProcess(world, { crashAt: 2 }, (deps) => kill({ ...world, deps }));
    expect(run.ending).toEqual({ kind: "crashed", at: "kill.begin:after" });
    const { record } = await restore(world);
    expect(record.lifecycle.session.state).toBe("not_started");
    expect(world.workspace.exists(PATH)).toBe(true);
  });
});

describe("a process that was stopped for longer than its lease, and was taken over", () => {
  test.each([
    "spawn.begin:after",
    "spawn.planned:after",
    "spawn.workspace.create:after",
    "spawn.created:after",
    "spawn.launch.files:after",
    "spawn.runtime.create:after",
    "spawn.row.insert:after",
  ])("at %s does nothing more when it wakes", async (at) => {
    const world = aWorld();
    const gate = aGate(at);
    const clock = { ...world.deps.clock, sleep: untilAborted };
    const stopped = spawn({ ...world, deps: { ...world.deps, clock, boundary: gate.boundary } });
    await gate.reached;
    world.clock.advance(31_000);
    const { operations, errors } = await reconcile(world.deps);
    expect(errors).toEqual([]);
    gate.open();
    await expect(stopped).rejects.toMatchObject({ code: "operation_in_progress" });
    await reconcile(world.deps);
    const isLive = operations.some(({ outcome }) => outcome === "finished");
    expect(world.runtime.sessions()).toEqual(isLive ? [ID] : []);
    expect(world.workspace.exists(PATH)).toBe(isLive);
    expect(world.deps.store.list()).toHaveLength(isLive ? 1 : 0);
  });
});

/** Time that does not pass. */
function untilAborted(_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal?.addEventListener("abort", () => resolve());
  });
}

/** A boundary at which a process stops until the gate is opened. */
function aGate(at: string) {
  let open: () => void = () => undefined;
  let reach: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const boundary = async (name: string) => {
    if (name !== at) return;
    reach();
    await opened;
  };
  return { boundary, reached, open: () => open() };
}

/** A process that is stopped at one boundary. */
function stuckAt(boundary: string) {
  return (name: string) => (name === boundary ? new Promise<void>(() => undefined) : Promise.resolve());
}
