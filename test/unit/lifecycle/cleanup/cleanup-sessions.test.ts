import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import type { RuntimeObservation } from "../../../../src/domain/facts.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import type { SessionRecord } from "../../../../src/domain/session.ts";
import { skipReasonFor } from "../../../../src/domain/skip-reason.ts";
import { FINDING_KINDS } from "../../../../src/domain/workspace-finding.ts";
import {
  type CleanupOptions,
  type CleanupResult,
  cleanupSessions,
} from "../../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import { operationLedger } from "../../../../src/lifecycle/operations/ledger.ts";
import type { WorkspaceSpec } from "../../../../src/ports/workspace.ts";
import { aKilledSession, aProject, projectId, sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const GONE: RuntimeObservation = { runtime: { kind: "missing" }, process: { kind: "dead" } };
const pathOf = (id: string) => `/data/worktrees/app/${id}`;

function cleanup({ deps }: World, overrides: Partial<CleanupOptions> = {}): Promise<CleanupResult> {
  return cleanupSessions(deps, { projectId: null, dryRun: false, olderThanMs: null, ...overrides });
}

/** A world with `count` sessions that were killed with their worktrees kept. */
async function anEndedWorld(count: number): Promise<World> {
  const world = aWorld();
  for (let number = 1; number <= count; number++) {
    const { id } = await world.spawn({ issueId: String(number) });
    world.workspace.refuse(pathOf(id));
    await world.kill(id).catch(() => undefined);
    world.workspace.allow(pathOf(id));
  }
  world.clearLog();
  return world;
}

/** The first look into a worktree fails, and so do those that follow, `times` in all. */
function failing(world: World, times: number): void {
  for (let time = 0; time < times; time++) {
    world.workspace.failNext("survey", new AoError("git_failed", "bad object"));
  }
}

const isFreed = ({ metadata }: SessionRecord) => metadata.workspaceFreedAtMs !== null;

const idsOf = (entries: readonly { readonly id: SessionId }[]) => entries.map(({ id }) => id);

describe("a cleanup", () => {
  test("frees what is clean, skips what holds work, and never considers a live session", async () => {
    const world = await anEndedWorld(2);
    await world.spawn({ issueId: "live" });
    world.workspace.refuse(pathOf("app-2"));
    const result = await cleanup(world);
    expect(result).toEqual({
      branchesDeleted: [],
      cleaned: [{ id: "app-1", projectId: "app", salvageRef: null, remains: null, branchDeleted: null }],
      skipped: [{ id: "app-2", projectId: "app", reason: "untracked", detail: "1 untracked file" }],
      errors: [],
      dryRun: false,
    });
    expect([1, 2, 3].map((n) => world.workspace.exists(pathOf(`app-${n}`)))).toEqual([false, true, true]);
  });

  test("ends the dead runtime, frees the worktree, notes it, removes the launch files", async () => {
    const world = await anEndedWorld(1);
    await cleanup(world);
    expect(world.log).toEqual([
      "runtime.look app-1",
      "store.save app-1 terminated/manually_killed missing",
      "workspace.survey app-1",
      "runtime.look app-1",
      "runtime.destroy app-1",
      "workspace.destroy app-1",
      "store.save app-1 terminated/manually_killed missing freed",
      "files.removeTree /data/launch/app-1/launch-1",
    ]);
  });

  test("removes the files of the last launch and no other's", async () => {
    const world = await anEndedWorld(1);
    for (const launch of ["launch-1", "launch-9"]) {
      await world.files.write(`/data/launch/app-1/${launch}/prompt`, launch);
    }
    await cleanup(world);
    expect(world.files.paths()).toEqual(["/data/launch/app-1/launch-9/prompt"]);
  });

  test("leaves on record which branch was checked out", async () => {
    const world = await anEndedWorld(1);
    world.workspace.switchTo(pathOf("app-1"), "other");
    await cleanup(world);
    expect(world.row(sessionId("app-1")).metadata.branch).toBe("other");
    expect((await world.restore(sessionId("app-1"))).metadata.branch).toBe("other");
  });

  test("never considers a session twice", async () => {
    const world = await anEndedWorld(1);
    await cleanup(world);
    expect(await cleanup(world)).toMatchObject({ cleaned: [], skipped: [], errors: [] });
  });

  test("looks at all sessions with one call, and at each once more when its turn comes", async () => {
    const world = await anEndedWorld(3);
    await cleanup(world);
    const ids = ["app-1", "app-2", "app-3"];
    expect(world.log.filter((call) => call.startsWith("runtime.look"))).toEqual(
      [ids.join(" "), ...ids].map((looked) => `runtime.look ${looked}`),
    );
  });

  test("finds a session whose agent died unseen", async () => {
    const world = aWorld();
    await world.spawn();
    world.runtime.loseRuntime(sessionId("app-1"));
    expect(idsOf((await cleanup(world)).cleaned)).toEqual(["app-1"]);
    expect(world.row(sessionId("app-1")).lifecycle.session.reason).toBe("runtime_lost");
  });

  test("is limited to one project when asked to", async () => {
    const world = await anEndedWorld(1);
    world.deps.store.insertProject(aProject({ id: "web" }));
    expect(await cleanup(world, { projectId: projectId("web") })).toMatchObject({ cleaned: [] });
    expect(idsOf((await cleanup(world, { projectId: projectId("app") })).cleaned)).toEqual(["app-1"]);
  });

  test("tells which session it is at", async () => {
    const world = await anEndedWorld(2);
    const steps: string[] = [];
    await cleanup(world, { onStep: (step) => void steps.push(step) });
    const work = (what: string) => ["app-1", "app-2"].map((id, at) => `${what} ${at + 1}/2 ${id}`);
    expect(steps).toEqual([...work("checking"), ...work("freeing")]);
  });

  test("twice at once frees each worktree once, without an error", async () => {
    const world = await anEndedWorld(20);
    const results = await Promise.all([cleanup(world), cleanup(world)]);
    const cleaned = results.flatMap((result) => idsOf(result.cleaned));
    expect(cleaned.toSorted()).toEqual(idsOf(world.deps.store.list()).toSorted());
    expect(results.flatMap(({ errors }) => errors)).toEqual([]);
  });
});

describe("a session is skipped as", () => {
  const aliveRuntime: RuntimeObservation["runtime"] = { kind: "alive", lastOutputAtMs: null };
  test.each<[string, string, (world: World) => Partial<CleanupOptions> | undefined]>([
    [
      "in_use",
      "its agent runs",
      (world) => look(world, { runtime: aliveRuntime, process: { kind: "alive" } }),
    ],
    [
      "in_use",
      "its process lives though the runtime is gone",
      (world) => look(world, { runtime: { kind: "missing" }, process: { kind: "alive" } }),
    ],
    [
      "unknown",
      "its runtime could not be judged",
      (world) => look(world, { runtime: { kind: "unknown" }, process: { kind: "indeterminate" } }),
    ],
    ["operation_in_progress", "another process works on it", holdUp],
    ["too_recent", "it ended a moment ago", () => ({ olderThanMs: 1000 })],
    ["no_workspace", "none is recorded", (world) => record(world, { workspacePath: "" })],
    ["no_workspace", "somebody moved it away", takeAway],
    ["shared", "a live session works there", shareWithLive],
    ["unsafe_path", "the path is not its own", shareWithDead],
    ...FINDING_KINDS.map((kind): [string, string, (world: World) => undefined] => [
      skipReasonFor([{ kind, detail: "x", items: [], count: 1 }]),
      `the worktree has: ${kind}`,
      ({ workspace }) =>
        workspace.refuse(pathOf("app-1"), [{ kind, detail: "x", items: [], count: 1 }]) as undefined,
    ]),
  ])("%s when %s, in a dry run and in the run", async (reason, _why, prepare) => {
    const world = await anEndedWorld(1);
    const options = prepare(world) ?? {};
    const rows = world.deps.store.list();
    const dry = await cleanup(world, { ...options, dryRun: true });
    expect(world.deps.store.list()).toEqual(rows);
    expect(dry.skipped).toContainEqual(expect.objectContaining({ id: "app-1", reason }));
    expect(await cleanup(world, options)).toEqual({ ...dry, dryRun: false });
    expect(world.row(sessionId("app-1")).metadata.workspaceFreedAtMs).toBeNull();
    expect(world.runtime.destroyed).toHaveLength(1);
  });

  test("too_recent no longer when it is old enough, to the millisecond", async () => {
    const world = await anEndedWorld(1);
    world.clock.advance(999);
    expect((await cleanup(world, { olderThanMs: 1000 })).skipped).toHaveLength(1);
    world.clock.advance(1);
    expect((await cleanup(world, { olderThanMs: 1000 })).cleaned).toHaveLength(1);
  });
});

describe("a dry run", () => {
  test("offers a session whose agent ended by itself, as the run does", async () => {
    const world = aWorld();
    const { id } = await world.spawn({ issueId: "1" });
    world.runtime.setLook(id, GONE);
    world.clock.advance(120_000);
    const planned = await cleanup(world, { dryRun: true });
    expect(planned).toMatchObject({ cleaned: [{ id }], skipped: [] });
    expect(await cleanup(world)).toEqual({ ...planned, dryRun: false });
  });

  test("says what the run does and changes nothing", async () => {
    const world = await anEndedWorld(3);
    world.workspace.refuse(pathOf("app-2"));
    await world.hear(sessionId("app-1"), "exited");
    const before = [world.deps.store.list(), await world.deps.inbox.pending()];
    const dry = await cleanup(world, { dryRun: true });
    expect([world.deps.store.list(), await world.deps.inbox.pending()]).toEqual(before);
    expect(world.log.map((call) => call.split(" ")[0])).toEqual([
      "runtime.look",
      ...["workspace.survey", "workspace.survey", "workspace.survey"],
    ]);
    expect(idsOf(dry.cleaned)).toEqual(["app-1", "app-3"]);
    expect(await cleanup(world)).toEqual({ ...dry, dryRun: false });
  });
});

describe("a cleanup that cannot see", () => {
  test.each([false, true])("removes nothing and changes nothing (dry run: %s)", async (dryRun) => {
    const world = await anEndedWorld(2);
    const before = world.deps.store.list();
    world.runtime.failNext("look", new Error("tmux: command not found"));
    await expect(cleanup(world, { dryRun })).rejects.toMatchObject({
      code: "runtime_unavailable",
      message: expect.stringContaining("tmux: command not found"),
    });
    expect(world.deps.store.list()).toEqual(before);
    expect(world.log).toEqual(["runtime.look app-1 app-2"]);
  });

  test.each([false, true])("who uses the worktrees removes nothing either (dry run: %s)", async (dryRun) => {
    const world = await anEndedWorld(1);
    const before = world.deps.store.list();
    world.workspace.failNext("users", new AoError("runtime_unavailable", "no /proc"));
    await expect(cleanup(world, { dryRun })).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(world.deps.store.list()).toEqual(before);
    expect(world.log).toEqual(["runtime.look app-1"]);
  });

  test("a live session stops too, though it would not touch it", async () => {
    const world = aWorld();
    await world.spawn();
    const before = world.row(sessionId("app-1"));
    world.runtime.failNext("look", new Error("tmux: command not found"));
    await expect(cleanup(world)).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(world.row(sessionId("app-1"))).toEqual(before);
  });

  test("stops when git is missing", async () => {
    const world = await anEndedWorld(2);
    world.workspace.failNext("survey", new AoError("git_unavailable", "git is missing"));
    await expect(cleanup(world)).rejects.toMatchObject({ code: "git_unavailable" });
    expect(world.workspace.exists(pathOf("app-1"))).toBe(true);
  });

  test("does not even look when there is nothing", async () => {
    const world = aWorld();
    expect(await cleanup(world)).toMatchObject({ cleaned: [], skipped: [], errors: [] });
    expect(world.log).toEqual([]);
  });
});

describe("one session's failure", () => {
  test("is listed when it fails the same way again, and does not stop the others", async () => {
    const world = await anEndedWorld(3);
    failing(world, 2);
    const result = await cleanup(world);
    expect(result.errors).toEqual([{ id: "app-1", projectId: "app", message: "bad object" }]);
    expect(idsOf(result.cleaned)).toEqual(["app-2", "app-3"]);
  });

  test("that does not come again means that no answer can be relied on: nothing is removed", async () => {
    const world = await anEndedWorld(3);
    failing(world, 1);
    await expect(cleanup(world)).rejects.toMatchObject({ code: "git_unavailable" });
    expect(world.deps.store.rows().sessions.filter(isFreed)).toEqual([]);
  });

  test("in each look is a git that cannot see", async () => {
    const world = await anEndedWorld(2);
    failing(world, 4);
    await expect(cleanup(world)).rejects.toMatchObject({ code: "git_unavailable" });
  });

  test("of git in the middle is told with what was freed before; in the first it is all there is to tell", async () => {
    const world = await anEndedWorld(3);
    const silent = new AoError("git_unavailable", "git said nothing");
    let calls = 0;
    const destroyIn = (from: number): World["deps"]["workspace"]["destroy"] => {
      return async (...args) => {
        calls += 1;
        if (calls >= from) throw silent;
        return world.deps.workspace.destroy(...args);
      };
    };
    const options = { projectId: null, dryRun: false, olderThanMs: null };
    const from = (first: number) => ({
      ...world.deps,
      workspace: { ...world.deps.workspace, destroy: destroyIn(first) },
    });
    const result = await cleanupSessions(from(2), options);
    expect(idsOf(result.cleaned)).toEqual(["app-1"]);
    expect(result.errors.map(({ id, message }) => [id, message])).toEqual([
      ["app-2", "git said nothing"],
      ["app-3", "git said nothing"],
    ]);
    expect(calls).toBe(2);
  });

  test("in removing the dead runtime does not keep the worktree, and is told", async () => {
    const world = await anEndedWorld(1);
    world.runtime.failNext("destroy", new AoError("runtime_unavailable", "no answer"));
    const result = await cleanup(world);
    expect(idsOf(result.cleaned)).toEqual(["app-1"]);
    expect(result.errors).toMatchObject([{ id: "app-1", message: expect.stringContaining("no answer") }]);
  });

  test("between check and removal leaves the worktree: work that came meanwhile is found", async () => {
    const world = await anEndedWorld(1);
    const workspace = {
      ...world.deps.workspace,
      async survey(...args: Parameters<World["deps"]["workspace"]["survey"]>) {
        const found = await world.deps.workspace.survey(...args);
        world.workspace.refuse(pathOf("app-1"));
        return found;
      },
    };
    const options = { projectId: null, dryRun: false, olderThanMs: null };
    const result = await cleanupSessions({ ...world.deps, workspace }, options);
    expect(result.skipped).toMatchObject([{ id: "app-1", reason: "untracked" }]);
    expect(world.workspace.exists(pathOf("app-1"))).toBe(true);
  });
});

function look({ runtime }: World, observation: RuntimeObservation): undefined {
  runtime.setLook(sessionId("app-1"), observation);
}

function record({ deps, row }: World, metadata: { readonly workspacePath: string }): undefined {
  const stored = row(sessionId("app-1"));
  deps.store.save({ ...stored, metadata: { ...stored.metadata, ...metadata } }, stored.lifecycle.revision);
}

function takeAway({ workspace }: World): undefined {
  workspace.vanish(pathOf("app-1"));
}

function holdUp({ deps, processes }: World): undefined {
  const [id, project] = [sessionId("app-1"), projectId("app")];
  const self = { process: processes.add({ command: "ao" }), command: "ao restore app-1" };
  operationLedger({ ...deps, self }).begin({
    ...{ kind: "restore", projectId: project, sessionId: id, identifyingSessionId: id },
    ...{ subject: "other", input: null, progress: null },
  });
}

function shareWithLive({ deps, row, runtime }: World): undefined {
  const stored = row(sessionId("app-1"));
  deps.store.insert({
    ...stored,
    id: sessionId("app-9"),
    terminatedAtMs: null,
    lifecycle: liveLifecycle(stored),
  });
  runtime.setLook(sessionId("app-9"), {
    runtime: { kind: "alive", lastOutputAtMs: null },
    process: { kind: "alive" },
  });
}

function shareWithDead({ deps, runtime, workspace, row }: World): undefined {
  const { metadata } = row(sessionId("app-1"));
  workspace.vanish(metadata.workspacePath);
  const other = aKilledSession({ id: "app-8", metadata: { ...metadata, workspaceFreedAtMs: 1 } });
  deps.store.insert(other);
  runtime.setLook(other.id, GONE);
  const { id: session, projectId: project } = other;
  const spec: WorkspaceSpec = {
    ...{ sessionId: session, projectId: project, repositoryPath: metadata.repositoryPath },
    ...{ path: metadata.workspacePath, branch: "elsewhere", baseRef: null, defaultBranch: null },
    ...{ postCreate: { symlinks: [], copy: [], commands: [], timeoutMs: 1 }, env: {} },
    operationId: null,
  };
  void workspace.plan(spec).then((plan) => workspace.create(spec, plan));
}

function liveLifecycle({ lifecycle }: ReturnType<World["row"]>) {
  return { ...lifecycle, session: { state: "working", reason: "task_in_progress" } as const };
}
