import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import { isTerminal } from "../../../../src/domain/lifecycle.ts";
import { deriveStatus } from "../../../../src/domain/status.ts";
import type { RestoreOptions } from "../../../../src/lifecycle/restore/restore-options.ts";
import type { RestoreResult } from "../../../../src/lifecycle/restore/restore-result.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World, type WorldOptions } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";

function restore(world: World, overrides: Partial<RestoreOptions> = {}): Promise<RestoreResult> {
  return restoreSession(world.deps, ID, { fresh: false, settings: world.settings, ...overrides });
}

/** A world with one session that was spawned and killed; the log begins after that. */
async function aKilledWorld(options: WorldOptions & { readonly dirty?: boolean } = {}): Promise<World> {
  const world = aWorld(options);
  await world.spawn({ agentArgs: ["--fast"] });
  if (options.dirty === true) world.workspace.refuse(PATH);
  await world.kill(ID).catch(() => undefined);
  world.clearLog();
  return world;
}

describe("a restore", () => {
  test("looks, makes the worktree again, starts the agent and reopens the row, in this order", async () => {
    const world = await aKilledWorld();
    const { record, fresh } = await restore(world);
    expect(world.log).toEqual([
      "runtime.look app-1",
      "store.save app-1 terminated/manually_killed missing freed",
      "workspace.restore app-1",
      "store.save app-1 terminated/manually_killed missing",
      "runtime.destroy app-1",
      "files.removeTree /data/launch/app-1/launch-1",
      "runtime.create app-1",
      "store.save app-1 not_started/spawn_requested unknown",
      "store.save app-1 not_started/spawn_requested alive",
    ]);
    expect(fresh).toBe(false);
    expect(deriveStatus(record.lifecycle)).toBe("spawning");
    expect(record).toMatchObject({
      terminatedAtMs: null,
      lifecycle: { pr: { state: "none", reason: "cleared_on_restore" }, runtime: { state: "alive" } },
      metadata: { workspaceFreedAtMs: null, launchId: "launch-2", runtime: { id: "$2" } },
    });
    expect(world.row(ID)).toEqual(record);
  });

  test("resumes the session's own conversation, with the agent and the arguments of the spawn", async () => {
    const world = await aKilledWorld();
    const before = world.row(ID).metadata;
    const { record } = await restore(world);
    expect(world.runtime.created[1]).toMatchObject({
      argv: ["/bin/agent", "--resume", before.agentSessionId, "--fast"],
      workspacePath: PATH,
      env: { AO_SESSION_ID: "app-1", AO_LAUNCH_ID: "launch-2", AO_ISSUE_ID: "42" },
    });
    expect(record.metadata).toMatchObject({
      agent: before.agent,
      agentArgs: before.agentArgs,
      agentSessionId: before.agentSessionId,
    });
    expect(world.files.paths()).toEqual([]);
  });

  test("resumes the conversation that an agent named itself", async () => {
    const world = aWorld({ capabilities: { pinsSessionId: false } });
    await world.spawn();
    await world.kill(ID);
    const row = world.row(ID);
    const metadata = { ...row.metadata, agentSessionId: "named-by-agent" };
    world.deps.store.save({ ...row, metadata }, row.lifecycle.revision);
    world.agent.addConversation("named-by-agent");
    await restore(world);
    expect(world.runtime.created[1]?.argv).toEqual(["/bin/agent", "--resume", "named-by-agent"]);
  });

  test("works in the worktree that stayed, whatever it holds", async () => {
    const world = await aKilledWorld({ dirty: true });
    await restore(world);
    expect(world.log).not.toContain("workspace.create app-1");
    expect(world.workspace.exists(PATH)).toBe(true);
  });

  test.each([
    ["freed the worktree", false],
    ["left the worktree", true],
  ])("comes back to the branch that the agent switched to when the kill %s", async (_name, dirty) => {
    const world = aWorld();
    await world.spawn();
    world.workspace.switchTo(PATH, "other");
    if (dirty) world.workspace.refuse(PATH);
    await world.kill(ID).catch(() => undefined);
    const { record } = await restore(world);
    expect(record.metadata.branch).toBe("other");
    expect(world.row(ID).metadata.branch).toBe("other");
  });

  test("comes back to the branch on record when the agent had none checked out", async () => {
    const world = aWorld();
    await world.spawn();
    world.workspace.switchTo(PATH, null);
    await world.kill(ID);
    expect((await restore(world)).record.metadata.branch).toBe("feat/42");
  });

  test("is not confused by what the old launch says late", async () => {
    const world = await aKilledWorld();
    const old = world.row(ID).metadata.launchId;
    await restore(world);
    await world.hear(ID, "waiting_input", { launchId: old });
    await expect(restore(world)).rejects.toMatchObject({ code: "not_restorable" });
    expect(world.row(ID).lifecycle.session.state).toBe("not_started");
    expect(await world.deps.inbox.pending()).toEqual([]);
  });

  test("begins anew with --fresh: another conversation, the recorded prompt and the rules", async () => {
    const world = await aKilledWorld();
    const before = world.row(ID).metadata.agentSessionId;
    const settings = { ...world.settings, agentRules: "be careful" };
    const { record, fresh } = await restore(world, { fresh: true, settings });
    const { agentSessionId } = record.metadata;
    expect(fresh).toBe(true);
    expect(agentSessionId).not.toBe(before);
    expect(world.runtime.created[1]?.argv).toEqual(["/bin/agent", "--new", agentSessionId, "--fast"]);
    expect(await world.files.read("/data/launch/app-1/launch-2/prompt")).toBe("do the thing\n\nbe careful");
  });
});

describe("the conversation that a fresh restore leaves behind", () => {
  test("stays on record, the newest last", async () => {
    const world = await aKilledWorld();
    const first = world.row(ID).metadata.agentSessionId;
    const second = (await restore(world, { fresh: true })).record.metadata;
    await world.kill(ID);
    const third = (await restore(world, { fresh: true })).record.metadata;
    expect(second.previousAgentSessionIds).toEqual([first]);
    expect(third.previousAgentSessionIds).toEqual([first, second.agentSessionId]);
  });

  test("is none when the same one is taken up again", async () => {
    const world = await aKilledWorld();
    expect((await restore(world)).record.metadata.previousAgentSessionIds).toEqual([]);
  });

  test("is named when the new one cannot be taken up", async () => {
    const world = await aKilledWorld();
    const first = world.row(ID).metadata.agentSessionId;
    await restore(world, { fresh: true });
    await world.kill(ID);
    await expect(restore(world)).rejects.toMatchObject({
      code: "agent_session_unknown",
      details: { previousAgentSessionIds: [first] },
    });
  });

  test.each<[string, (world: World) => void]>([
    ["start", ({ runtime }) => runtime.failNext("create", new AoError("agent_start_failed", "no"))],
    ["be put on record", (world) => world.failNext("store.save", new AoError("store_busy", "no"), 3)],
  ])("is reached by a plain restore when the fresh one could not %s", async (_name, breakIt) => {
    const world = await aKilledWorld();
    const { agentSessionId } = world.row(ID).metadata;
    breakIt(world);
    await expect(restore(world, { fresh: true })).rejects.toMatchObject({
      message: expect.stringMatching(/\bno\b/),
    });
    expect(world.row(ID).metadata).toMatchObject({ agentSessionId, previousAgentSessionIds: [] });
    const { record } = await restore(world);
    expect(record.metadata).toMatchObject({ agentSessionId, previousAgentSessionIds: [] });
    expect(world.runtime.created.at(-1)?.argv).toContain(agentSessionId);
  });
});

describe("a restore is refused, and touches nothing,", () => {
  const noConversation: readonly [string, WorldOptions, (world: World) => void][] = [
    ["none was recorded", { capabilities: { pinsSessionId: false } }, () => undefined],
    ["the agent cannot resume", { capabilities: { resume: false } }, () => undefined],
    [
      "the agent no longer has it",
      {},
      (world) => world.agent.removeConversation(world.row(ID).metadata.agentSessionId ?? ""),
    ],
  ];
  test.each(noConversation)("when there is no conversation: %s", async (_name, options, prepare) => {
    const world = await aKilledWorld(options);
    prepare(world);
    await expect(restore(world)).rejects.toMatchObject({
      code: "agent_session_unknown",
      hint: expect.stringContaining("--fresh"),
    });
    expect(world.log.filter((call) => !call.startsWith("runtime.look"))).toEqual([
      "store.save app-1 terminated/manually_killed missing freed",
    ]);
    expect(world.runtime.created).toHaveLength(1);
  });

  test("when the conversation is recorded for another session too", async () => {
    const world = await aKilledWorld();
    const other = await world.spawn({ issueId: "43" });
    const { agentSessionId } = world.row(ID).metadata;
    const metadata = { ...other.metadata, agentSessionId };
    world.deps.store.save({ ...other, metadata }, other.lifecycle.revision);
    await expect(restore(world)).rejects.toMatchObject({
      code: "agent_session_unknown",
      message: expect.stringContaining("app-2"),
    });
  });

  test("when the session is unknown", async () => {
    await expect(restore(aWorld())).rejects.toMatchObject({ code: "session_not_found" });
  });

  test("when it is not over", async () => {
    const world = aWorld();
    await world.spawn();
    await expect(restore(world)).rejects.toMatchObject({
      code: "not_restorable",
      hint: expect.stringContaining("ao kill app-1"),
    });
    expect(world.runtime.created).toHaveLength(1);
  });

  test("when it is over and its agent runs all the same", async () => {
    const world = await aKilledWorld();
    world.runtime.setLook(ID, {
      runtime: { kind: "alive", lastOutputAtMs: null },
      process: { kind: "alive" },
    });
    await expect(restore(world)).rejects.toMatchObject({ code: "not_restorable" });
    expect(world.runtime.created).toHaveLength(1);
  });

  test("when it could not look; then nothing is written either", async () => {
    const world = await aKilledWorld();
    const before = world.row(ID);
    world.runtime.failNext("look", new Error("tmux is missing"));
    await expect(restore(world)).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(world.row(ID)).toEqual(before);
  });

  test("when git is gone", async () => {
    const world = await aKilledWorld();
    world.workspace.setTool({ kind: "missing", hint: "install it" });
    await expect(restore(world)).rejects.toMatchObject({ code: "git_unavailable", hint: "install it" });
    expect(world.log).not.toContain("workspace.restore app-1");
    expect(world.runtime.created).toHaveLength(1);
  });

  test("when the agent is not installed any more", async () => {
    const world = await aKilledWorld();
    world.agent.setPresence({ kind: "missing", hint: "install it" });
    await expect(restore(world)).rejects.toMatchObject({ code: "agent_unavailable" });
    expect(world.log).not.toContain("workspace.restore app-1");
  });
});

describe("a session whose agent was lost", () => {
  test("is restored once the look says that it is dead", async () => {
    const world = aWorld();
    await world.spawn();
    world.runtime.loseRuntime(ID);
    const { record } = await restore(world);
    expect(record.lifecycle.session.state).toBe("not_started");
    expect(world.runtime.sessions()).toEqual([ID]);
  });

  test("gets its dead terminal removed first", async () => {
    const world = aWorld();
    await world.spawn();
    world.runtime.exitAgent(ID, 1);
    await restore(world);
    expect(world.runtime.destroyed).toMatchObject([{ launchId: "launch-1", handle: { id: "$1" } }]);
  });
});

describe("a restore whose step fails", () => {
  const boom = new AoError("git_failed", "boom");

  test.each<[string, (world: World) => void]>([
    ["the worktree", ({ workspace }) => workspace.failNext("restore", boom)],
    ["removing the dead terminal", ({ runtime }) => runtime.failNext("destroy", boom)],
    ["the runtime", ({ runtime }) => runtime.failNext("create", boom)],
    ["the prompt file", (world) => world.failNext("files.write", boom)],
  ])("at %s leaves the session terminated and all as it was", async (_name, breakIt) => {
    const world = await aKilledWorld();
    await restore(world, { fresh: true });
    await world.kill(ID);
    const before = world.row(ID);
    breakIt(world);
    await expect(restore(world, { fresh: true })).rejects.toBe(boom);
    const { revision, runtime } = world.row(ID).lifecycle;
    expect({ ...world.row(ID), updatedAtMs: before.updatedAtMs }).toEqual({
      ...before,
      lifecycle: { ...before.lifecycle, revision, runtime },
    });
    expect(world.workspace.exists(PATH)).toBe(false);
    expect(world.runtime.sessions()).toEqual([]);
    expect(world.files.paths()).toEqual([]);
  });

  test("and could not be taken back leaves the worktree that it made and the launch files alone", async () => {
    const world = await aKilledWorld();
    const left = [{ what: "tmux session", where: "app-1", why: "could not look" }];
    world.runtime.failNext("create", new AoError("runtime_unavailable", "no answer", { details: { left } }));
    await expect(restore(world, { fresh: true })).rejects.toMatchObject({
      code: "teardown_incomplete",
      details: {
        code: "runtime_unavailable",
        left: [...left, { what: "launch files" }, { what: "worktree", where: PATH }],
      },
    });
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(world.files.paths()).toEqual(["/data/launch/app-1/launch-2/prompt"]);
    expect(world.row(ID).metadata.workspaceFreedAtMs).toBeNull();
    expect(isTerminal(world.row(ID).lifecycle)).toBe(true);
  });

  test("over a worktree that is left half made says so, and not that nothing was changed", async () => {
    const world = await aKilledWorld();
    const left = [{ what: "worktree", where: PATH, why: "it is locked" }];
    world.workspace.failNext("restore", new AoError("git_unavailable", "no answer", { details: { left } }));
    await expect(restore(world)).rejects.toMatchObject({
      code: "teardown_incomplete",
      details: { code: "git_unavailable", left },
    });
    const [operation] = world.deps.operations.ofSession(ID, 1).operations;
    expect(operation).toMatchObject({ state: { kind: "prepared" }, progress: { undoing: true } });
  });

  test("before the runtime is up never touches a worktree that was there", async () => {
    const world = await aKilledWorld({ dirty: true });
    world.workspace.allow(PATH);
    world.runtime.failNext("create", boom);
    await expect(restore(world)).rejects.toBe(boom);
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(world.log).not.toContain("workspace.undoCreate app-1");
  });

  test("after the runtime is up ends it again, leaves the row ended, and never touches the worktree", async () => {
    const world = await aKilledWorld();
    const before = world.row(ID).lifecycle.session;
    let saves = 0;
    const store = {
      ...world.deps.store,
      save(...args: Parameters<World["deps"]["store"]["save"]>) {
        saves += 1;
        if (saves === 4) throw boom;
        return world.deps.store.save(...args);
      },
    };
    const options = { fresh: false, settings: world.settings };
    const error: unknown = await restoreSession({ ...world.deps, store }, ID, options).catch((e) => e);
    expect(error).toMatchObject({
      code: "git_failed",
      details: { left: [{ what: "worktree", where: PATH }] },
    });
    expect(world.log.slice(6)).toEqual([
      "runtime.create app-1",
      "store.save app-1 not_started/spawn_requested unknown",
      "runtime.destroy app-1",
      "files.removeTree /data/launch/app-1/launch-2",
    ]);
    expect(world.runtime.sessions()).toEqual([]);
    expect(world.workspace.exists(PATH)).toBe(true);
    expect(world.row(ID).lifecycle.session).toEqual(before);
    expect(world.row(ID).metadata.workspaceFreedAtMs).toBeNull();
  });

  test("can be tried again", async () => {
    const world = await aKilledWorld();
    world.runtime.failNext("create", boom);
    await expect(restore(world)).rejects.toBe(boom);
    expect((await restore(world)).record.lifecycle.runtime.state).toBe("alive");
  });
});

describe("five restores at once", () => {
  test.each([false, true])("start one agent (worktree there before: %s)", async (dirty) => {
    const world = await aKilledWorld({ dirty });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => restore(world)));
    const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
    expect(refusals).toEqual(Array.from({ length: 4 }, () => "operation_in_progress"));
    expect(world.runtime.sessions()).toEqual([ID]);
    expect(world.workspace.exists(PATH)).toBe(true);
    const { launchId, runtime } = world.row(ID).metadata;
    const seen = await world.deps.runtime.look([
      { sessionId: ID, launchId, handle: runtime ?? fail(), process: null },
    ]);
    expect(seen.get(ID)?.runtime.kind).toBe("alive");
  });
});

function fail(): never {
  throw new Error("no runtime recorded");
}
