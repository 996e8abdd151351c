import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import { deriveStatus } from "../../../../src/domain/status.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import { sessionId, T0_MS } from "../../../support/builders.ts";
import { aSpawnRequest, aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";

/** All that a spawn could leave behind. */
async function traces({ deps, workspace, runtime, files }: World) {
  return {
    rows: deps.store.list(),
    projects: deps.store.projects(),
    branches: workspace.branches("/repo/app"),
    worktree: workspace.exists(PATH),
    runtimes: runtime.sessions(),
    files: files.paths(),
    events: await deps.inbox.pending(),
  };
}

/** The error a spawn ends with. */
async function spawnError(world: World, overrides = {}): Promise<AoError> {
  const error = await spawnSession(world.deps, aSpawnRequest(world.project, overrides)).catch((e) => e);
  if (error instanceof AoError) return error;
  throw new Error(`spawn did not fail with an AoError: ${String(error)}`);
}

describe("a spawn", () => {
  test("makes worktree, runtime and row in this order, and shows as spawning", async () => {
    const world = aWorld({
      callerEnv: { PATH: "/bin", BASE: "1", AO_SESSION_ID: "other-1", TMUX: "/x,1,0" },
    });
    const record = await world.spawn({ branch: "feat/42" });
    expect(world.log).toEqual([
      "workspace.create app-1",
      "files.write /data/launch/app-1/launch-1/prompt",
      "runtime.create app-1",
      "store.insert app-1 not_started/spawn_requested unknown",
      "store.save app-1 not_started/spawn_requested alive",
    ]);
    expect(deriveStatus(record.lifecycle)).toBe("spawning");
    expect(world.row(ID)).toEqual(record);
    expect(record).toMatchObject({
      id: "app-1",
      projectId: "app",
      issueId: "42",
      kind: "worker",
      createdAtMs: T0_MS,
      terminatedAtMs: null,
      lifecycle: { runtime: { state: "alive", reason: "process_running" } },
      metadata: {
        branch: "feat/42",
        baseRef: "main",
        workspacePath: PATH,
        runtime: { name: "memory", id: "$1" },
        launchId: "launch-1",
      },
    });
  });

  test("gives the agent its identity over the project's and the caller's environment", async () => {
    const world = aWorld({
      callerEnv: { PATH: "/bin", BASE: "1", AO_SESSION_ID: "other-1", TMUX: "/x,1,0" },
    });
    const env = { AO_SESSION_ID: "forged", FROM_PROJECT: "2" };
    await world.spawn({ settings: { ...world.settings, env }, configPath: "/repo/app/ao.yaml" });
    const [spec] = world.runtime.created;
    expect(spec?.env).toMatchObject({
      AO_SESSION_ID: "app-1",
      AO_PROJECT_ID: "app",
      AO_ISSUE_ID: "42",
      AO_LAUNCH_ID: "launch-1",
      AO_DATA_DIR: "/data",
      AO_CONFIG_PATH: "/repo/app/ao.yaml",
      BASE: "1",
      FROM_PROJECT: "2",
    });
    expect(spec?.env).not.toHaveProperty("TMUX");
    expect(env).toEqual({ AO_SESSION_ID: "forged", FROM_PROJECT: "2" });
  });

  test("starts the program by its absolute path, with the pinned conversation, in the worktree", async () => {
    const world = aWorld();
    const record = await world.spawn({ agentArgs: ["--fast"] });
    const conversation = record.metadata.agentSessionId;
    expect(world.runtime.created[0]).toMatchObject({
      argv: ["/bin/agent", "--new", conversation, "--fast"],
      workspacePath: PATH,
      launchDir: "/data/launch/app-1/launch-1",
      settleMs: 10,
    });
    expect(conversation).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("leaves the conversation to an agent that names its own", async () => {
    const world = aWorld({ capabilities: { pinsSessionId: false } });
    expect((await world.spawn()).metadata.agentSessionId).toBeNull();
  });

  test.each([
    ["prompt and rules", "do the thing", "be careful", "do the thing\n\nbe careful"],
    ["the prompt alone", "do the thing", null, "do the thing"],
    ["the rules alone", null, "be careful", "be careful"],
  ])("hands over %s in a file, and records only the prompt", async (_name, prompt, agentRules, expected) => {
    const world = aWorld();
    const record = await world.spawn({ prompt, settings: { ...world.settings, agentRules } });
    expect(await world.files.read("/data/launch/app-1/launch-1/prompt")).toBe(expected);
    expect(world.deps.store.promptOf(record.id)).toBe(prompt);
  });

  test("writes no prompt file when there is nothing to say", async () => {
    const world = aWorld();
    await world.spawn({ prompt: null });
    expect(world.files.paths()).toEqual([]);
  });

  test.each([
    ["the issue", { issueId: "42", title: null }, "feat/42"],
    ["issue and title", { issueId: "42", title: "Fix it" }, "feat/42-fix-it"],
    ["the session id", { issueId: null, title: "Fix it" }, "session/app-1"],
  ])("derives the branch from %s", async (_name, overrides, branch) => {
    expect((await aWorld().spawn(overrides)).metadata.branch).toBe(branch);
  });

  test("never uses a number twice", async () => {
    const world = aWorld();
    await world.spawn();
    await world.kill(ID);
    world.runtime.failNext("create", new AoError("runtime_unavailable", "no server"));
    await spawnError(world, { issueId: "43" });
    expect((await world.spawn({ issueId: "44" })).id).toBe("app-3");
  });

  test("tells its steps and passes on what the worktree warned of", async () => {
    const world = aWorld();
    const warned = { ...world.deps.workspace, create: createWithWarning(world) };
    const steps: string[] = [];
    const request = aSpawnRequest(world.project, { onStep: (step) => void steps.push(step) });
    const { warnings } = await spawnSession({ ...world.deps, workspace: warned }, request);
    expect(warnings).toEqual(["hook post-checkout exited with 3"]);
    expect(steps).toEqual(["creating worktree", "starting agent"]);
  });

  test("twenty at once are twenty sessions", async () => {
    const world = aWorld();
    const spawned = await Promise.all(
      Array.from({ length: 20 }, (_, index) => world.spawn({ issueId: String(index) })),
    );
    expect(new Set(spawned.map(({ id }) => id)).size).toBe(20);
    expect(world.runtime.sessions()).toHaveLength(20);
    expect(world.deps.store.list()).toHaveLength(20);
  });
});

describe("a spawn that cannot work", () => {
  test.each<[string, string, (world: World) => Parameters<typeof spawnError>[1]]>([
    ["an unknown agent", "agent_not_found", () => ({ agent: "nobody" })],
    [
      "an agent that is not installed",
      "agent_unavailable",
      ({ agent }) => void agent.setPresence({ kind: "missing", hint: "install it" }),
    ],
    [
      "an agent that is too old",
      "agent_unavailable",
      ({ agent }) =>
        void agent.setPresence({ kind: "too_old", version: "1", needed: "2", hint: "update it" }),
    ],
    [
      "an agent that does not answer",
      "agent_unavailable",
      ({ agent }) => void agent.setPresence({ kind: "failed", cause: "timeout" }),
    ],
    [
      "a git that is too old",
      "git_unavailable",
      ({ workspace }) =>
        void workspace.setTool({ kind: "too_old", version: "2.20.1", needed: "2.25", hint: "update it" }),
    ],
    ["a title of two lines", "usage", () => ({ title: "a\nb" })],
    ["a prompt with NUL", "usage", () => ({ prompt: "a\0b" })],
    ["an endless issue id", "usage", () => ({ issueId: "x".repeat(1000) })],
    ["a prefix that makes no id", "usage", ({ project }) => ({ project: { ...project, prefix: "a:b" } })],
    [
      "a program that is nowhere",
      "agent_unavailable",
      ({ settings }) => ({ settings: { ...settings, env: { PATH: "/empty" } } }),
    ],
  ])("with %s is refused as %s before any side effect", async (_name, code, prepare) => {
    const world = aWorld();
    const overrides = prepare(world);
    const before = await traces(world);
    expect(await spawnError(world, overrides ?? {})).toMatchObject({ code });
    expect(world.log).toEqual([]);
    expect(await traces(world)).toEqual(before);
    expect(world.deps.store.allocateSessionNumber("app")).toBe(1);
  });

  test("with a runtime that is missing is refused before any side effect", async () => {
    const world = aWorld();
    const runtime = {
      ...world.deps.runtime,
      check: async () => ({ kind: "missing", hint: "apt install tmux" }) as const,
    };
    const spawned = spawnSession({ ...world.deps, runtime }, aSpawnRequest(world.project));
    await expect(spawned).rejects.toMatchObject({ code: "runtime_unavailable", hint: "apt install tmux" });
    expect(world.log).toEqual([]);
  });
});

describe("a spawn whose step fails", () => {
  const boom = new AoError("git_failed", "boom", { hint: "look", details: { output: "x" } });

  test.each<[string, (world: World) => void]>([
    ["making the worktree", ({ workspace }) => workspace.failNext("create", boom)],
    ["writing the prompt", (world) => world.failNext("files.write", boom)],
    ["starting the runtime", ({ runtime }) => runtime.failNext("create", boom)],
    ["seeding the row", (world) => world.failNext("store.insert", boom)],
  ])("%s leaves everything as before and says the same error", async (_name, breakIt) => {
    const world = aWorld();
    await world.spawn({ issueId: "41" });
    const before = await traces(world);
    breakIt(world);
    expect(await spawnError(world)).toBe(boom);
    expect(await traces(world)).toEqual(before);
  });

  test("an agent that exits at birth leaves nothing, not even what it reported", async () => {
    const world = aWorld({ behaviour: () => ({ kind: "exits", exitStatus: 7, output: ["no key"] }) });
    const ours = { agent: "memory", event: "active", atMs: T0_MS, body: "" };
    await world.deps.inbox.put({ ...ours, sessionId: ID, launchId: "launch-1" });
    const before = { ...(await traces(world)), events: [] };
    const error = await spawnError(world);
    expect(error).toMatchObject({
      code: "agent_start_failed",
      message: expect.stringMatching(/^no session was made: .*app-1 exited with 7/),
      details: { exitStatus: 7, output: ["no key"] },
    });
    expect(await traces(world)).toEqual(before);
  });

  test("a session whose row stays is not called one that was not made", async () => {
    const world = aWorld();
    world.failNext("store.save", new AoError("store_busy", "the store is locked"));
    expect(await spawnError(world)).toMatchObject({
      code: "agent_start_failed",
      message: expect.stringMatching(/^the agent was started/),
    });
    expect(deriveStatus(world.row(ID).lifecycle)).toBe("errored");
  });

  test("before the row ends runtime, files and worktree in this order, and completes nothing", async () => {
    const world = aWorld();
    world.failNext("store.insert", boom);
    await spawnError(world);
    expect(world.log.slice(3)).toEqual([
      "store.insert app-1 not_started/spawn_requested unknown",
      "runtime.destroy app-1",
      "files.removeTree /data/launch/app-1/launch-1",
      "workspace.undoCreate app-1",
    ]);
  });

  test("after the row parks it as errored and takes runtime and worktree back", async () => {
    const world = aWorld();
    world.failNext("store.save", boom);
    expect(await spawnError(world)).toBe(boom);
    expect(world.log.slice(4)).toEqual([
      "store.save app-1 not_started/spawn_requested alive",
      "store.save app-1 terminated/error_in_process exited",
      "runtime.destroy app-1",
      "files.removeTree /data/launch/app-1/launch-1",
      "workspace.undoCreate app-1",
      "store.save app-1 terminated/error_in_process exited freed",
    ]);
    expect(deriveStatus(world.row(ID).lifecycle)).toBe("errored");
    expect(world.row(ID).metadata.killNote).toBe("boom");
    expect(await traces(world)).toMatchObject({ branches: [], worktree: false, runtimes: [], files: [] });
  });

  test.each([
    ["forgets the conversation that its agent had begun", false],
    ["keeps the conversation of an agent whose work stays", true],
  ])("%s", async (_what, works) => {
    const world = aWorld();
    const held: string[] = [];
    const runtime: World["deps"]["runtime"] = {
      ...world.deps.runtime,
      create(spec) {
        const [operation] = world.deps.operations.unfinished().operations;
        const id = JSON.stringify(operation?.progress).match(/"agentSessionId":"([^"]*)"/)?.[1] ?? "";
        held.push(id);
        world.agent.addConversation(id);
        if (works) world.workspace.refuse(PATH);
        return world.deps.runtime.create(spec);
      },
    };
    world.failNext("store.insert", boom);
    await expect(spawnSession({ ...world.deps, runtime }, aSpawnRequest(world.project))).rejects.toThrow();
    const request = { dataDir: "/data", workspacePath: PATH, home: null };
    const known = await Promise.all(held.map((id) => world.agent.hasConversation(id, request)));
    expect(known).toEqual([works]);
  });

  test("keeps the branch that was there before", async () => {
    const world = aWorld();
    world.workspace.addBranch("/repo/app", "feat/42");
    world.runtime.failNext("create", boom);
    await spawnError(world);
    expect(world.workspace.branches("/repo/app")).toEqual(["feat/42"]);
  });
});

describe("a spawn that cannot be taken back", () => {
  const boom = new AoError("store_busy", "the store is locked", { hint: "try again" });

  test("never says that nothing was changed, tells the first error, and names what is left and where", async () => {
    const world = aWorld();
    world.failNext("store.insert", boom);
    world.workspace.refuse(PATH);
    const error = await spawnError(world);
    expect(error).toMatchObject({
      code: "agent_start_failed",
      details: { code: "store_busy" },
      cause: { cause: boom },
    });
    expect(error.message).toContain(
      "the agent was started, and a step after that failed: the store is locked",
    );
    expect(error.message).toContain(`kept for the work in it: worktree ${PATH}, branch feat/42`);
    expect(error.hint).toBe(
      `try again; see what was done: git -C ${PATH} status --ignored; git -C /repo/app log 000000000000..feat/42`,
    );
    expect(error.details["left"]).toMatchObject([
      { what: "worktree", where: PATH, why: "1 untracked file" },
      { what: "branch", where: "feat/42", why: "it is checked out there" },
    ]);
    expect(world.workspace.exists(PATH)).toBe(true);
  });

  test("leaves worktree and files alone while the agent still runs", async () => {
    const world = aWorld();
    world.failNext("store.insert", boom);
    world.runtime.failNext("destroy", new AoError("teardown_incomplete", "process 7 lives"));
    const error = await spawnError(world);
    expect(error.details["code"]).toBe("store_busy");
    expect(error.details["left"]).toMatchObject([
      { what: "memory session", where: "$1 on /memory/socket", why: "process 7 lives" },
      { what: "launch files", where: "/data/launch/app-1/launch-1" },
      { what: "worktree", where: PATH },
      { what: "branch", where: "feat/42" },
    ]);
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(world.files.paths()).toHaveLength(1);
  });

  const where = "app-1 on /memory/socket";
  test.each([
    [{ what: "tmux session", where, why: "could not look" }],
    ["tmux session app-1: could not look"],
  ])("leaves worktree and files alone when the start itself could not be taken back (%j)", async (item) => {
    const world = aWorld();
    const failed = new AoError("agent_start_failed", "it exited with 7", {
      details: { exitStatus: 7, left: [item] },
    });
    world.runtime.failNext("create", failed);
    const error = await spawnError(world);
    expect(error).toMatchObject({ code: "agent_start_failed", details: { exitStatus: 7 }, cause: failed });
    const left = [
      { why: expect.stringContaining("could not look") },
      {
        what: "launch files",
        where: "/data/launch/app-1/launch-1",
        why: expect.stringContaining("is still there"),
      },
      { what: "worktree", where: PATH },
      { what: "branch", where: "feat/42" },
    ];
    expect(error.details["left"]).toMatchObject(left);
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(world.workspace.branches("/repo/app")).toEqual(["feat/42"]);
    expect(world.files.paths()).toHaveLength(1);
    const [operation] = world.deps.operations.ofSession(ID, 1).operations;
    expect(operation).toMatchObject({ state: { kind: "prepared" }, progress: { undoing: true } });
  });

  test("does not say that nothing was changed when the making of the worktree left something", async () => {
    const world = aWorld();
    const left = [{ what: "worktree", where: PATH, why: "it is locked" }];
    const failed = new AoError("git_unavailable", "git did not answer", { details: { left } });
    world.workspace.failNext("create", failed);
    const error = await spawnError(world);
    expect(error).toMatchObject({
      code: "teardown_incomplete",
      details: { code: "git_unavailable", left },
      cause: failed,
    });
    expect(error.hint).toContain(
      `left for now, and taken back by the next command (ao reconcile): worktree ${PATH}`,
    );
    const [operation] = world.deps.operations.ofSession(ID, 1).operations;
    expect(operation).toMatchObject({ state: { kind: "prepared" }, progress: { undoing: true } });
  });

  test.each<[string, (world: World) => void]>([
    [
      "the runtime cannot be asked",
      (world) => world.runtime.failNext("destroy", new AoError("runtime_unavailable", "no tmux")),
    ],
    [
      "git cannot be asked",
      (world) => world.workspace.failNext("undoCreate", new AoError("git_unavailable", "no git")),
    ],
    ["the store takes nothing", (world) => world.failNext("store.save", boom)],
  ])("now, for %s, is taken back by the next reconcile, and says so", async (_why, breakUndo) => {
    const world = aWorld();
    world.failNext("store.save", boom);
    breakUndo(world);
    const error = await spawnError(world);
    expect(error.message).not.toContain("kept for the work in it");
    expect(error.hint).toContain("taken back by the next command (ao reconcile)");
    world.clock.advance(1000);
    expect((await reconcile(world.deps)).operations).toMatchObject([{ kind: "spawn", outcome: "undone" }]);
    expect(deriveStatus(world.row(ID).lifecycle)).toBe("errored");
    expect(world.row(ID).metadata.workspaceFreedAtMs).not.toBeNull();
    expect(await traces(world)).toMatchObject({ branches: [], worktree: false, runtimes: [], files: [] });
  });

  test("takes all back after a start that left nothing", async () => {
    const world = aWorld();
    const before = await traces(world);
    world.runtime.failNext("create", new AoError("agent_start_failed", "no", { details: { left: [] } }));
    await spawnError(world);
    expect(await traces(world)).toEqual(before);
  });
});

function createWithWarning({ deps }: World): World["deps"]["workspace"]["create"] {
  return async (spec, plan) => ({
    ...(await deps.workspace.create(spec, plan)),
    warnings: ["hook post-checkout exited with 3"],
  });
}
