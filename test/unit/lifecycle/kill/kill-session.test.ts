import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import { deriveStatus } from "../../../../src/domain/status.ts";
import type { WorkspaceFinding } from "../../../../src/domain/workspace-finding.ts";
import { type KillOptions, killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import type { KillResult } from "../../../../src/lifecycle/kill/kill-steps.ts";
import { aSession, launchId, sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";

function kill({ deps }: World, overrides: Partial<KillOptions> = {}): Promise<KillResult> {
  const options: KillOptions = { reason: "manual", note: null, keepWorktree: false, callerSessionId: null };
  return killSession(deps, ID, { ...options, ...overrides });
}

/** A world with one live session, its spawn out of the log. */
async function aLiveWorld(): Promise<World> {
  const world = aWorld();
  await world.spawn();
  world.clearLog();
  return world;
}

describe("a kill", () => {
  test("records the intent, ends the runtime, frees the worktree, in this order", async () => {
    const world = await aLiveWorld();
    expect(await kill(world, { note: "done" })).toEqual({
      id: "app-1",
      workspaceFreed: true,
      alreadyTerminated: false,
      salvageRef: null,
      workspacePath: null,
      queuedMessages: 0,
    });
    expect(world.log).toEqual([
      "runtime.look app-1",
      "store.save app-1 terminated/manually_killed exited",
      "runtime.destroy app-1",
      "workspace.destroy app-1",
      "store.save app-1 terminated/manually_killed exited freed",
      "files.removeTree /data/launch/app-1/launch-1",
    ]);
    expect(deriveStatus(world.row(ID).lifecycle)).toBe("killed");
    expect(world.row(ID).metadata.killNote).toBe("done");
    expect(world.files.paths()).toEqual([]);
  });

  test("keeps the branch", async () => {
    const world = await aLiveWorld();
    await kill(world);
    expect(world.workspace.branches("/repo/app")).toEqual(["feat/42"]);
  });

  test("keeps on record which branch was checked out, also when it dies right after freeing the worktree", async () => {
    const world = await aLiveWorld();
    world.workspace.switchTo(PATH, "other");
    const at = "kill.workspace.destroy:after";
    const stuck = (name: string) => (name === at ? new Promise<void>(() => undefined) : Promise.resolve());
    void kill({ ...world, deps: { ...world.deps, boundary: stuck } });
    await expect.poll(() => world.workspace.exists(PATH)).toBe(false);
    world.processes.kill(world.deps.self.process.pid);
    const self = { ...world.deps.self, process: world.processes.add({ command: "ao" }) };
    const next = { ...world, deps: { ...world.deps, self } };
    expect(await kill(next)).toMatchObject({ workspaceFreed: true });
    expect(world.row(ID).metadata.branch).toBe("other");
  });

  test("tells its steps", async () => {
    const world = await aLiveWorld();
    const steps: string[] = [];
    await kill(world, { onStep: (step) => void steps.push(step) });
    expect(steps).toEqual(["ending agent", "freeing worktree"]);
  });

  test("removes the files of the launch it ended and no other's", async () => {
    const world = await aLiveWorld();
    await world.files.write("/data/launch/app-1/launch-9/prompt", "of another");
    await kill(world);
    expect(world.files.paths()).toEqual(["/data/launch/app-1/launch-9/prompt"]);
  });

  test("leaves the launch files alone once the session was launched anew", async () => {
    const world = await aLiveWorld();
    const files = world.files.paths();
    const boundary = async (name: string) => {
      const row = world.row(ID);
      const metadata = { ...row.metadata, launchId: launchId("launch-2") };
      if (name === "kill.launch.remove:before") {
        world.deps.store.save({ ...row, metadata }, row.lifecycle.revision);
      }
    };
    await kill({ ...world, deps: { ...world.deps, boundary } });
    expect(files).toHaveLength(1);
    expect(world.files.paths()).toEqual(files);
  });

  test("keeps the worktree when asked to, and a later kill frees it", async () => {
    const world = await aLiveWorld();
    expect(await kill(world, { keepWorktree: true })).toMatchObject({
      workspaceFreed: false,
      workspacePath: PATH,
    });
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(await kill(world)).toMatchObject({ workspaceFreed: true, alreadyTerminated: true });
    expect(world.workspace.exists(PATH)).toBe(false);
  });

  test("of an unknown session says so", async () => {
    const world = aWorld();
    await expect(kill(world)).rejects.toMatchObject({ code: "session_not_found" });
    expect(world.log).toEqual([]);
  });

  test("of the session it runs in is refused before anything", async () => {
    const world = await aLiveWorld();
    await expect(kill(world, { callerSessionId: ID })).rejects.toMatchObject({ code: "inside_session" });
    expect(world.log).toEqual([]);
  });

  test.each([
    ["runtime", { runtime: null, process: null }],
    ["worktree", { workspacePath: "" }],
  ])("without a recorded %s is refused before anything", async (_name, metadata) => {
    const world = aWorld();
    world.deps.store.insert(aSession({ metadata }));
    world.clearLog();
    await expect(kill(world)).rejects.toMatchObject({ code: "not_running" });
    expect(world.log).toEqual([]);
  });
});

describe("a kill that is refused the worktree", () => {
  test("is an error that lists what was found; the session is over, the worktree untouched", async () => {
    const world = await aLiveWorld();
    world.workspace.refuse(PATH);
    const error = await kill(world).catch((e) => e);
    expect(error).toMatchObject({
      code: "workspace_dirty",
      details: {
        id: "app-1",
        workspaceFreed: false,
        alreadyTerminated: false,
        workspacePath: PATH,
        findings: [{ kind: "untracked" }],
      },
    });
    expect(error.message).toContain("1 untracked file");
    expect(error.hint).toContain(PATH);
    expect(world.log).toEqual([
      "runtime.look app-1",
      "store.save app-1 terminated/manually_killed exited",
      "runtime.destroy app-1",
      "workspace.destroy app-1",
      "files.removeTree /data/launch/app-1/launch-1",
    ]);
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(world.row(ID).metadata.workspaceFreedAtMs).toBeNull();
  });

  test("is no error the second time, and frees it once it may", async () => {
    const world = await aLiveWorld();
    world.workspace.refuse(PATH);
    await expect(kill(world)).rejects.toMatchObject({ code: "workspace_dirty" });
    expect(await kill(world)).toMatchObject({
      alreadyTerminated: true,
      workspaceFreed: false,
      workspacePath: PATH,
    });
    world.workspace.allow(PATH);
    expect(await kill(world)).toMatchObject({
      alreadyTerminated: true,
      workspaceFreed: true,
      workspacePath: null,
      queuedMessages: 0,
    });
  });

  test("is the same error the second time where its work was to be kept, and names no command that just failed", async () => {
    const world = await aLiveWorld();
    const used = { kind: "in_use", detail: "1 process in it", items: ["7 sleep"], count: 1 } as const;
    await kill(world, { keepWorktree: true });
    world.workspace.refuse(PATH, [used]);
    const error = await kill(world, { salvage: true }).catch((e) => e);
    expect(error).toMatchObject({
      code: "workspace_dirty",
      message: expect.stringMatching(
        /^session app-1 was terminated already, its worktree stays: .*1 process/,
      ),
      details: { alreadyTerminated: true, workspaceFreed: false, workspacePath: PATH, findings: [used] },
    });
    expect(error.details).toHaveProperty("salvageRef");
    expect(error.hint).not.toContain("ao kill");
    expect(await kill(world)).toMatchObject({ alreadyTerminated: true, workspaceFreed: false });
  });

  test("because git went missing half-way says that the session is over all the same", async () => {
    const world = await aLiveWorld();
    world.workspace.failNext("destroy", new AoError("git_unavailable", "git is missing"));
    await expect(kill(world)).rejects.toMatchObject({
      code: "teardown_incomplete",
      message: "session app-1 was terminated, its worktree stays: git is missing",
      details: { code: "git_unavailable", workspaceFreed: false, workspacePath: PATH },
    });
    expect(await kill(world)).toMatchObject({ workspaceFreed: true });
  });

  test("does not say that the worktree stays when its files lie in the trash by now", async () => {
    const world = await aLiveWorld();
    const left = ["/data/trash/app-1.gone: a file system is mounted in it"];
    const cause = new AoError("teardown_incomplete", "files are at /data/trash/app-1.gone", {
      hint: "ao reconcile",
      details: { left },
    });
    world.workspace.failNext("destroy", cause);
    await expect(kill(world)).rejects.toMatchObject({
      message:
        "session app-1 was terminated, its worktree was not freed whole: files are at /data/trash/app-1.gone",
      hint: "ao reconcile",
      details: { left },
    });
  });
});

describe("a kill without git", () => {
  const missing = { kind: "missing", hint: "install git" } as const;

  test("changes nothing, not even the row", async () => {
    const world = await aLiveWorld();
    const before = world.row(ID);
    world.workspace.setTool(missing);
    await expect(kill(world)).rejects.toMatchObject({ code: "git_unavailable", hint: "install git" });
    expect(world.log).toEqual(["runtime.look app-1"]);
    expect(world.row(ID)).toEqual(before);
  });

  test("of a worktree that is to be kept, or was freed, needs none", async () => {
    const world = await aLiveWorld();
    world.workspace.setTool(missing);
    expect(await kill(world, { keepWorktree: true })).toMatchObject({ workspaceFreed: false });
    await expect(kill(world)).rejects.toMatchObject({ code: "git_unavailable" });
    world.workspace.setTool({ kind: "ok", version: "2.39.5", path: "git" });
    await kill(world);
    world.workspace.setTool(missing);
    expect(await kill(world)).toMatchObject({ workspaceFreed: true });
  });
});

describe("a kill whose runtime cannot be ended", () => {
  const alive = new AoError("teardown_incomplete", "process 7 lives", { details: { left: [7] } });

  test("fails with that error and does not touch the worktree", async () => {
    const world = await aLiveWorld();
    world.runtime.failNext("destroy", alive);
    await expect(kill(world)).rejects.toBe(alive);
    expect(world.log).toEqual([
      "runtime.look app-1",
      "store.save app-1 terminated/manually_killed exited",
      "runtime.destroy app-1",
    ]);
    expect(world.workspace.exists(PATH)).toBe(true);
  });

  test("because it cannot be seen changes nothing, not even the row", async () => {
    const world = await aLiveWorld();
    const before = world.row(ID);
    world.runtime.failNext("look", new Error("tmux: command not found"));
    await expect(kill(world)).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(world.log).toEqual(["runtime.look app-1"]);
    expect(world.row(ID)).toEqual(before);
  });

  test("because it went out of sight half-way says that the session is over all the same", async () => {
    const world = await aLiveWorld();
    const unseen = new AoError("runtime_unavailable", "tmux did not answer", { hint: "ao doctor" });
    world.runtime.failNext("destroy", unseen);
    await expect(kill(world)).rejects.toMatchObject({
      code: "teardown_incomplete",
      message: "session app-1 was terminated, its agent may still run: tmux did not answer",
      details: { code: "runtime_unavailable", workspaceFreed: false, workspacePath: PATH },
      cause: unseen,
    });
    // What the first one left is tried first.
    for (const _try of ["the first", "this one"]) world.runtime.failNext("destroy", unseen);
    await expect(kill(world)).rejects.toBe(unseen);
    expect(world.workspace.exists(PATH)).toBe(true);
  });

  test("is finished by the next one", async () => {
    const world = await aLiveWorld();
    world.runtime.failNext("destroy", alive);
    await kill(world).catch(() => undefined);
    expect(await kill(world)).toMatchObject({ alreadyTerminated: true, workspaceFreed: true });
    expect(world.runtime.sessions()).toEqual([]);
  });
});

describe("a kill that has to be repeated names its repeat with what was asked", () => {
  const used = { kind: "in_use", detail: "1 process in it", items: ["7 sleep"], count: 1 } as const;
  const commits = { kind: "untracked", detail: "1 untracked file", items: ["a"], count: 1 } as const;

  test.each<[string, readonly WorkspaceFinding[], Partial<KillOptions>]>([
    ["ao kill app-1", [used], {}],
    ["ao kill app-1 --salvage", [used], { salvage: true }],
    ["ao kill app-1; or keep all of it aside: ao kill app-1 --salvage", [commits], {}],
  ])("once the worktree may go: %s", async (again, findings, options) => {
    const world = await aLiveWorld();
    world.workspace.refuse(PATH, findings);
    await expect(kill(world, options)).rejects.toMatchObject({
      code: "workspace_dirty",
      hint: expect.stringMatching(new RegExp(`; then: ${again}$`)),
    });
  });

  test.each<[string, Partial<KillOptions>]>([
    ["ao kill app-1", {}],
    ["ao kill app-1 --salvage", { salvage: true }],
    ["ao kill app-1 --keep-worktree", { keepWorktree: true }],
  ])("when its agent could not be ended: %s", async (again, options) => {
    const world = await aLiveWorld();
    world.runtime.failNext("destroy", new AoError("runtime_unavailable", "no tmux"));
    await expect(kill(world, options)).rejects.toMatchObject({
      code: "teardown_incomplete",
      hint: `try again: ${again}`,
    });
  });
});

describe("a second kill", () => {
  test("finds what the first one did and calls nothing", async () => {
    const world = await aLiveWorld();
    await kill(world);
    world.clearLog();
    expect(await kill(world)).toEqual({
      id: "app-1",
      workspaceFreed: true,
      alreadyTerminated: true,
      salvageRef: null,
      workspacePath: null,
      queuedMessages: 0,
    });
    expect(world.log).toEqual([]);
  });

  test("at the same time is refused, with who is at it", async () => {
    const world = await aLiveWorld();
    const first = kill(world);
    await expect(kill(world, { reason: "error" })).rejects.toMatchObject({
      code: "operation_in_progress",
      details: { kind: "kill", holder: { pid: world.deps.self.process.pid, command: "ao" } },
    });
    expect(await first).toMatchObject({ workspaceFreed: true });
    expect(world.row(ID).lifecycle.session.reason).toBe("manually_killed");
  });

  test("that waits for the first leaves one end with one reason", async () => {
    const world = await aLiveWorld();
    const second = { reason: "error", waitMs: 10_000 } as const;
    const results = await Promise.all([kill(world), kill(world, second)]);
    expect(results.map(({ alreadyTerminated }) => alreadyTerminated)).toEqual([false, true]);
    expect(world.row(ID).lifecycle.session.reason).toBe("manually_killed");
    expect(world.workspace.exists(PATH)).toBe(false);
  });

  test("of a session whose start failed half-way frees what is there", async () => {
    const world = await aLiveWorld();
    await kill(world, { keepWorktree: true });
    const row = world.row(ID);
    const metadata = { ...row.metadata, runtime: null, process: null };
    world.deps.store.save({ ...row, metadata }, row.lifecycle.revision);
    expect(await kill(world)).toMatchObject({ alreadyTerminated: true, workspaceFreed: true });
  });
});

describe("a kill that another command overtakes between its look and its beginning", () => {
  /** Runs `other`, whole, once the kill has looked. */
  function overtaken(world: World, other: () => Promise<unknown>): World {
    let isDone = false;
    const boundary = async (name: string) => {
      if (name !== "kill.begin:before" || isDone) return;
      isDone = true;
      await other().catch(() => "whatever it comes to");
    };
    return { ...world, deps: { ...world.deps, boundary } };
  }

  async function aKeptWorld(): Promise<World> {
    const world = await aLiveWorld();
    await kill(world, { keepWorktree: true });
    return world;
  }

  test("a restore: ends the new launch, and says that the session lived", async () => {
    const world = await aKeptWorld();
    const result = await kill(overtaken(world, () => world.restore(ID)));
    expect(result).toMatchObject({ alreadyTerminated: false, workspaceFreed: true });
    expect(world.runtime.sessions()).toEqual([]);
  });

  test("a restore: is refused a worktree with work, as of a session that lived", async () => {
    const world = await aKeptWorld();
    world.workspace.refuse(PATH);
    const killed = kill(overtaken(world, () => world.restore(ID)));
    await expect(killed).rejects.toMatchObject({
      code: "workspace_dirty",
      details: { alreadyTerminated: false },
    });
  });

  test("a kill: says that the session was over already", async () => {
    const world = await aLiveWorld();
    const first = () => kill(world, { keepWorktree: true, reason: "error" });
    const result = await kill(overtaken(world, first));
    expect(result).toMatchObject({ alreadyTerminated: true, workspaceFreed: true });
  });

  test("others without end: gives up, and has changed nothing", async () => {
    const world = await aKeptWorld();
    const boundary = async (name: string) => {
      if (name !== "kill.begin:before") return;
      await (world.runtime.sessions().length === 0 ? world.restore(ID) : kill(world, { keepWorktree: true }));
    };
    const killed = kill({ ...world, deps: { ...world.deps, boundary } });
    await expect(killed).rejects.toMatchObject({ code: "operation_in_progress", hint: "try again" });
    expect(world.deps.operations.unfinished().operations).toEqual([]);
  });
});
