import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import type { Operation } from "../../../../src/domain/operation.ts";
import { cleanupSessions } from "../../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { sendMessage } from "../../../../src/lifecycle/messages/send-message.ts";
import { removeProject } from "../../../../src/lifecycle/projects/projects.ts";
import { findOrphans } from "../../../../src/lifecycle/recovery/find-orphans.ts";
import { nameOrphans } from "../../../../src/lifecycle/recovery/judge-orphans.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import type { MarkedWorkspace, WorkspaceRef } from "../../../../src/ports/workspace.ts";
import { launchId, projectId, sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aSpawnRequest, aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";
const NOTHING = {
  ...{ transitions: [], operations: [], goals: [], messages: [], orphans: [] },
  ...{ pool: [], setAside: 0, errors: [] },
};

/** Starts a runtime and makes a worktree, both with our marks, that nobody has. */
async function strays({ deps }: World, id: string): Promise<void> {
  const ref = { projectId: projectId("app"), sessionId: sessionId(id), repositoryPath: "/repo/app" };
  const path = `/data/worktrees/app/${id}`;
  const spec = {
    ...{ ...ref, path, branch: `stray/${id}`, baseRef: null, defaultBranch: "main", env: {} },
    postCreate: { symlinks: [], copy: [], commands: [], timeoutMs: 1 },
    operationId: null,
  };
  await deps.workspace.create(spec, await deps.workspace.plan(spec));
  await deps.runtime.create({
    ...{ sessionId: ref.sessionId, launchId: launchId(`stray-${id}`), workspacePath: path },
    ...{ launchDir: "/launch", argv: ["/bin/agent"], env: {}, settleMs: 0 },
  });
}

/** Starts a runtime with our marks; of a launch that nothing was recorded of when none is named. */
async function launch({ deps }: World, id: SessionId, of = launchId("unrecorded")): Promise<void> {
  await deps.runtime.create({
    ...{ sessionId: id, launchId: of, workspacePath: PATH },
    ...{ launchDir: "/launch", argv: ["/bin/agent"], env: {}, settleMs: 0 },
  });
}

/** What a look would tell of a second worktree of the one session. */
async function secondWorktree({ deps }: World): Promise<MarkedWorkspace> {
  const [first] = await deps.workspace.marked();
  if (first === undefined) throw new Error("there is no worktree");
  return { ...first, ref: { ...first.ref, path: `${PATH}-old` } };
}

/** A spawn that was killed once its agent ran, and of which the row was lost before it was written. */
async function killedSpawn(world: World, at: string): Promise<void> {
  const { crossed } = await inProcess(world, {}, (deps) => spawnSession(deps, aSpawnRequest(world.project)));
  const crashAt = crossed.indexOf(at) + 1;
  await world.kill(ID);
  const request = aSpawnRequest(world.project, { issueId: "43" });
  await inProcess(world, { crashAt }, (deps) => spawnSession(deps, request));
}

describe("a reconcile", () => {
  test("of a world in order changes nothing and says how many it looked at", async () => {
    const world = aWorld();
    await world.spawn();
    expect(await reconcile(world.deps)).toEqual({ observed: 1, ...NOTHING });
  });

  test("lists the runtimes once: by its look, and anew only where that saw one of nobody", async () => {
    const world = aWorld();
    await world.spawn();
    world.clearLog();
    await reconcile(world.deps);
    const calls = () => world.log.filter((line) => line.startsWith("runtime."));
    expect(calls()).toEqual([`runtime.look ${ID}`]);
    await strays(world, "app-7");
    world.clearLog();
    await reconcile(world.deps);
    expect(calls()).toEqual([`runtime.look ${ID}`, "runtime.marked"]);
  });

  test("saves what it hears, and tells each change of status once", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "active");
    expect((await reconcile(world.deps)).transitions).toEqual([
      { id: "app-1", from: "spawning", to: "working", reason: "task_in_progress" },
    ]);
    expect(await reconcile(world.deps)).toEqual({ observed: 1, ...NOTHING });
  });

  test("that cannot look says so, ends nothing, and does the rest", async () => {
    const world = aWorld();
    await world.spawn();
    world.workspace.leaveTrash();
    world.runtime.failNext("look", new Error("tmux is gone"));
    const { errors, transitions } = await reconcile(world.deps);
    expect(errors).toEqual([{ subject: "runtime", code: "runtime_unavailable", message: "tmux is gone" }]);
    expect(transitions.every(({ to }) => to === "detecting")).toBe(true);
    expect((await world.deps.workspace.sweepTrash()).deleted).toBe(0);
  });
});

test("what cannot be deleted of the trash is an error of each tick, by its path, while it stands", async () => {
  const world = aWorld();
  const left = ["a", "b"].map((name) => ({ path: `/data/trash/${name}.gone`, why: "EPERM" }));
  world.workspace.resistInTrash(left);
  const errors = left.map(({ path, why }) => ({
    ...{ subject: `trash ${path}`, code: "data_dir_unusable", message: why },
  }));
  expect((await reconcile(world.deps)).errors).toEqual(errors);
  expect((await reconcile(world.deps)).errors).toEqual(errors);
  world.workspace.resistInTrash([]);
  expect((await reconcile(world.deps)).errors).toEqual([]);
});

describe("an orphan", () => {
  test("with nothing to lose is taken away, its dead runtime as well", async () => {
    const world = aWorld();
    await strays(world, "app-7");
    world.runtime.exitAgent(sessionId("app-7"), 0);
    expect((await reconcile(world.deps)).orphans).toMatchObject([
      { kind: "runtime", sessionId: "app-7", action: "undone" },
      { kind: "worktree", sessionId: "app-7", where: "/data/worktrees/app/app-7", action: "undone" },
    ]);
    expect(world.runtime.sessions()).toEqual([]);
    expect(world.workspace.exists("/data/worktrees/app/app-7")).toBe(false);
    expect(await reconcile(world.deps)).toEqual({ observed: 0, ...NOTHING });
  });

  test("that holds work is named with what it holds, and stays, however often", async () => {
    const world = aWorld();
    await strays(world, "app-7");
    world.runtime.loseRuntime(sessionId("app-7"));
    world.workspace.refuse("/data/worktrees/app/app-7");
    const first = await reconcile(world.deps);
    expect(first.orphans).toMatchObject([{ kind: "worktree", action: "kept", detail: "1 untracked file" }]);
    const changes = world.deps.changes.last();
    expect(await reconcile(world.deps)).toEqual(first);
    expect(world.deps.changes.last()).toBe(changes);
  });

  test("whose agent runs, and of which nothing is recorded, is left alone: the records may be lost", async () => {
    const world = aWorld();
    await strays(world, "app-7");
    expect((await reconcile(world.deps)).orphans).toMatchObject([
      { kind: "runtime", action: "kept", detail: expect.stringContaining("nothing is recorded") },
      { kind: "worktree", action: "kept" },
    ]);
    expect(world.runtime.sessions()).toEqual(["app-7"]);
  });

  test("whose agent runs in an earlier launch that the records name is ended", async () => {
    const world = aWorld();
    await world.spawn();
    await world.kill(ID);
    const { launchId: ended } = world.row(ID).metadata;
    await world.restore(ID);
    await world.kill(ID);
    await launch(world, ID, ended);
    expect(world.runtime.sessions()).toEqual(["app-1"]);
    expect((await reconcile(world.deps)).orphans).toMatchObject([{ kind: "runtime", action: "undone" }]);
    expect(world.runtime.sessions()).toEqual([]);
  });

  test.each<[string, (world: World) => Promise<unknown>]>([
    ["live", async () => undefined],
    ["killed", (world) => world.kill(ID)],
  ])(
    "whose agent runs in a launch that no record names is left alone: %s in a store put back from a copy",
    async (_state, change) => {
      const world = aWorld();
      await world.spawn();
      await change(world);
      world.runtime.loseRuntime(ID);
      await launch(world, ID);
      world.clock.advance(60_000);
      for (const tick of [1, 2, 3]) {
        world.clock.advance(tick);
        expect((await reconcile(world.deps)).orphans).toMatchObject([
          {
            kind: "runtime",
            action: "kept",
            detail: expect.stringContaining("nothing is recorded of this launch"),
          },
        ]);
      }
      expect(world.runtime.sessions()).toEqual(["app-1"]);
    },
  );

  test("is a second worktree of a session that has one, and nothing else of it is touched", async () => {
    const world = aWorld();
    await world.spawn();
    const second = await secondWorktree(world);
    const destroyed: string[] = [];
    const workspace = {
      ...world.deps.workspace,
      marked: async () => [...(await world.deps.workspace.marked()), second],
      inspect: async () => [],
      destroy: async (ref: WorkspaceRef) => void destroyed.push(ref.path),
    };
    const { orphans } = await reconcile({ ...world.deps, workspace });
    expect(orphans).toMatchObject([{ kind: "worktree", where: `${PATH}-old`, action: "undone" }]);
    expect(destroyed).toEqual([`${PATH}-old`]);
    expect(world.row(ID).metadata.workspaceFreedAtMs).toBeNull();
  });

  test("is judged anew when its removal was broken off, and the session's own worktree stays", async () => {
    const world = aWorld();
    await world.spawn();
    world.workspace.refuse(PATH);
    await world.kill(ID).catch(() => undefined);
    world.workspace.allow(PATH);
    const second = await secondWorktree(world);
    const marked = async () => [...(await world.deps.workspace.marked()), second];
    const stuck = (name: string) =>
      name === "reconcile.workspace.destroy:before" ? new Promise<void>(() => undefined) : Promise.resolve();
    const process = world.processes.add({ command: "ao" });
    const workspace = { ...world.deps.workspace, marked, inspect: async () => [] };
    void reconcile({ ...world.deps, workspace, boundary: stuck, self: { process, command: "ao reconcile" } });
    await expect.poll(() => world.deps.operations.unfinished().operations).toHaveLength(1);
    world.processes.kill(process.pid);
    expect((await reconcile(world.deps)).operations).toMatchObject([
      { kind: "cleanup", outcome: "finished" },
    ]);
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(world.row(ID).metadata.workspaceFreedAtMs).toBeNull();
  });

  test("is only named by who just asks", async () => {
    const world = aWorld();
    await strays(world, "app-7");
    world.clearLog();
    const named = await nameOrphans(world.deps, await findOrphans(world.deps));
    expect(named).toMatchObject([
      { kind: "runtime", action: "found" },
      { kind: "worktree", action: "found" },
    ]);
    expect(world.log).toEqual(["runtime.marked", "workspace.inspect app-7"]);
  });

  test("is no runtime or worktree that another process just makes", async () => {
    const world = aWorld();
    const seen: unknown[] = [];
    const look = async () => void seen.push(await findOrphans(world.deps));
    const deps = { ...world.deps, boundary: look };
    await spawnSession(deps, aSpawnRequest(world.project));
    expect(seen.length).toBeGreaterThan(5);
    expect(new Set(seen.map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify({ runtimes: [], workspaces: [] })]),
    );
  });

  test("is nothing at all while an operation cannot be read", async () => {
    const world = aWorld();
    await strays(world, "app-7");
    const unreadable = [{ id: "damaged", sessionId: null, flaw: "state" }];
    const unfinished = () => ({ ...world.deps.operations.unfinished(), unreadable });
    const operations = { ...world.deps.operations, unfinished };
    const { orphans, errors } = await reconcile({ ...world.deps, operations });
    expect(orphans).toEqual([]);
    expect(errors).toMatchObject([{ subject: "operation damaged", code: "store_corrupt" }]);
  });
});

describe("a spawn whose process died", () => {
  test("when its agent ran and is dead by now keeps the work in the worktree, and says where", async () => {
    const world = aWorld();
    await killedSpawn(world, "spawn.runtime.create:after");
    const second = sessionId("app-2");
    world.runtime.exitAgent(second, 0);
    world.workspace.refuse("/data/worktrees/app/app-2");
    const { operations, orphans } = await reconcile(world.deps);
    expect(operations).toMatchObject([{ kind: "spawn", sessionId: "app-2", outcome: "undone" }]);
    expect(orphans).toMatchObject([{ kind: "worktree", sessionId: "app-2", action: "kept" }]);
    expect(world.workspace.exists("/data/worktrees/app/app-2")).toBe(true);
    expect(stateOf(world, "app-2")).toMatchObject({
      kind: "failed",
      error: { code: "interrupted" },
      result: {
        left: [
          { what: "worktree", where: "/data/worktrees/app/app-2" },
          { what: "branch", where: expect.stringContaining("feat/") },
        ],
      },
    });
  });

  test("when somebody worked in its complete worktree since keeps that, and says where", async () => {
    const world = aWorld();
    await killedSpawn(world, "spawn.workspace.create:after");
    world.workspace.refuse("/data/worktrees/app/app-2");
    const { operations, orphans, errors } = await reconcile(world.deps);
    expect(operations).toMatchObject([{ kind: "spawn", sessionId: "app-2", outcome: "undone" }]);
    expect(orphans).toMatchObject([{ kind: "worktree", sessionId: "app-2", action: "kept" }]);
    expect(errors).toEqual([]);
    expect(world.workspace.exists("/data/worktrees/app/app-2")).toBe(true);
    const branch = { what: "branch", where: expect.stringContaining("feat/") };
    expect(stateOf(world, "app-2")).toMatchObject({
      kind: "failed",
      result: { left: [{ what: "worktree", where: "/data/worktrees/app/app-2" }, branch] },
    });
  });

  test("stays for later while it cannot be looked at, and stops no other", async () => {
    const world = aWorld();
    await killedSpawn(world, "spawn.runtime.create:after");
    const runtime = {
      ...world.deps.runtime,
      find: () => Promise.reject(new AoError("runtime_unavailable", "no tmux")),
    };
    const { operations, errors } = await reconcile({ ...world.deps, runtime });
    expect(operations).toMatchObject([{ kind: "spawn", outcome: "left" }]);
    expect(errors).toMatchObject([{ subject: "spawn of app-2", code: "runtime_unavailable" }]);
    expect((await world.spawn({ issueId: "44" })).id).toBe("app-3");
    world.clock.advance(10_000);
    expect((await reconcile(world.deps)).operations).toMatchObject([{ outcome: "finished" }]);
    expect(world.row(sessionId("app-2")).lifecycle.runtime.state).toBe("alive");
  });

  test.each<[string, (world: World) => Promise<unknown>]>([
    ["spawn", (world) => world.spawn({ issueId: "44" })],
    ["kill", (world) => world.kill(ID)],
    ["restore", (world) => world.restore(ID)],
    ["cleanup", ({ deps }) => cleanupSessions(deps, { projectId: null, dryRun: false, olderThanMs: null })],
    ["send", ({ deps }) => sendMessage(deps, sessionId("app-2"), "hello", { timeoutMs: 0 })],
    ["the removal of its project", ({ deps }) => removeProject(deps, "app")],
  ])("is finished by whoever comes next: %s", async (_command, change) => {
    const world = aWorld({ capabilities: { hooks: false, receipts: false } });
    await killedSpawn(world, "spawn.runtime.create:after");
    await change(world).catch(() => "whatever it comes to");
    expect(world.row(sessionId("app-2")).lifecycle.runtime.state).toBe("alive");
    expect(world.deps.operations.unfinished().operations).toEqual([]);
  });

  test("is recovered once by ten at a time", async () => {
    const world = aWorld();
    await killedSpawn(world, "spawn.created:after");
    const ticks = await Promise.all(Array.from({ length: 10 }, () => reconcile(world.deps)));
    expect(ticks.flatMap(({ operations }) => operations)).toHaveLength(1);
    expect(ticks.flatMap(({ errors }) => errors)).toEqual([]);
    expect(world.workspace.exists("/data/worktrees/app/app-2")).toBe(false);
  });
});

test("a restore whose process died, and in whose worktree somebody worked since, says that it stands", async () => {
  const world = aWorld();
  await world.spawn();
  await world.kill(ID);
  const restore = (deps: SessionDeps) =>
    restoreSession(deps, ID, { fresh: false, settings: world.settings, requestId: null });
  const { crossed } = await inProcess(world, {}, restore);
  await world.kill(ID);
  const crashAt = crossed.indexOf("restore.workspace.restore:after") + 1;
  await inProcess(world, { crashAt }, restore);
  expect(world.row(ID).metadata.workspaceFreedAtMs).not.toBeNull();
  world.workspace.refuse(PATH);
  const { operations, orphans } = await reconcile(world.deps);
  expect(operations).toMatchObject([{ kind: "restore", outcome: "undone" }]);
  expect(orphans).toEqual([]);
  expect(world.workspace.exists(PATH)).toBe(true);
  expect(world.row(ID).metadata).toMatchObject({ workspaceFreedAtMs: null, workspacePath: PATH });
  const { skipped } = await cleanupSessions(world.deps, {
    projectId: null,
    dryRun: false,
    olderThanMs: null,
  });
  expect(skipped).toMatchObject([{ id: ID, reason: "untracked" }]);
});

function stateOf({ deps }: World, id: string): Operation["state"] | undefined {
  return deps.operations.ofSession(sessionId(id), 1).operations[0]?.state;
}
