import { describe, expect, test } from "vitest";
import { AoError, isAoError, saysUnchanged } from "../../../../src/domain/errors.ts";
import { isTerminal } from "../../../../src/domain/lifecycle.ts";
import { cleanupSessions } from "../../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import { sessionId } from "../../../support/builders.ts";
import { aSpawnRequest, aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";
const REF = "refs/ao/salvage/app-1/1";
const requestId = "request-1";
const KILL = { reason: "manual", note: null, callerSessionId: null } as const;

/** A command of which a step fails in a process that goes on. */
interface Scenario {
  readonly name: string;
  arrange(): Promise<World>;
  act(deps: SessionDeps, world: World): Promise<unknown>;
  /** What is true once it was carried out. */
  readonly end: "live" | "freed";
  /** Whether there is work that must not be lost. */
  readonly work: boolean;
}

async function worked(): Promise<World> {
  const world = aWorld();
  await world.spawn();
  world.snapshots.work.write(PATH, "notes.txt", "mine\n");
  return world;
}

async function ended(): Promise<World> {
  const world = await worked();
  await killSession(world.deps, ID, { ...KILL, keepWorktree: true });
  return world;
}

const scenarios: readonly Scenario[] = [
  {
    name: "kill",
    arrange: async () => {
      const world = aWorld();
      await world.spawn();
      return world;
    },
    act: (deps) => killSession(deps, ID, { ...KILL, keepWorktree: false, requestId }),
    ...{ end: "freed", work: false },
  },
  {
    name: "kill --salvage",
    arrange: worked,
    act: (deps) => killSession(deps, ID, { ...KILL, keepWorktree: false, salvage: true, requestId }),
    ...{ end: "freed", work: true },
  },
  {
    name: "kill --salvage of a session that is over",
    arrange: ended,
    act: (deps) => killSession(deps, ID, { ...KILL, keepWorktree: false, salvage: true, requestId }),
    ...{ end: "freed", work: true },
  },
  {
    name: "cleanup --salvage",
    arrange: ended,
    act: (deps) =>
      cleanupSessions(deps, { projectId: null, dryRun: false, olderThanMs: null, salvage: true }),
    ...{ end: "freed", work: true },
  },
  {
    name: "restore",
    arrange: async () => {
      const world = await worked();
      await killSession(world.deps, ID, { ...KILL, keepWorktree: false, salvage: true });
      return world;
    },
    act: (deps, { settings }) => restoreSession(deps, ID, { fresh: false, settings, requestId }),
    ...{ end: "live", work: true },
  },
  {
    name: "restore in the worktree that stayed",
    arrange: ended,
    act: (deps, { settings }) => restoreSession(deps, ID, { fresh: false, settings, requestId }),
    ...{ end: "live", work: true },
  },
  {
    name: "spawn",
    arrange: async () => aWorld(),
    act: (deps, { project }) => spawnSession(deps, aSpawnRequest(project, { requestId })),
    ...{ end: "live", work: false },
  },
];

const FAILURES: readonly (() => Error)[] = [
  () => new AoError("store_busy", "the store is locked"),
  () => new Error("unforeseen"),
];

/** The boundaries of a command. A transaction is or is not: nothing comes between it and its end that could fail. */
async function boundariesOf(scenario: Scenario): Promise<readonly string[]> {
  const world = await scenario.arrange();
  const crossed: string[] = [];
  const boundary = async (name: string) => void crossed.push(name);
  await scenario.act({ ...world.deps, boundary }, world);
  return crossed.filter((name) => !name.endsWith(".begin:after"));
}

/** The same process with one boundary that throws, once. */
function failingAt(world: World, at: string, error: Error): SessionDeps {
  let isLeft = true;
  const boundary = async (name: string) => {
    if (name !== at || !isLeft) return;
    isLeft = false;
    throw error;
  };
  return { ...world.deps, boundary };
}

/** What an error that promises that nothing was changed promises. */
async function state({ deps, workspace, runtime, snapshots, files }: World) {
  const rows = deps.store.list().map(({ id, lifecycle, metadata }) => {
    const { launchId, workspaceFreedAtMs, salvageRef = null } = metadata;
    return { id, session: lifecycle.session, launchId, isFreed: workspaceFreedAtMs !== null, salvageRef };
  });
  return {
    rows,
    runtimes: runtime.sessions(),
    created: runtime.created.length,
    isThere: workspace.exists(PATH),
    branches: workspace.branches("/repo/app"),
    files: files.paths(),
    salvages: (await deps.snapshots.list("/repo/app")).map(({ ref }) => ref),
    notes: workspace.exists(PATH) ? snapshots.work.state(PATH).files.get("notes.txt") : undefined,
  };
}

const notesOf = ({ snapshots }: World) => snapshots.work.state(PATH).files.get("notes.txt");

/** The row names where the work is, or it is in the worktree of the row. */
function expectWork(world: World): void {
  const { workspaceFreedAtMs, salvageRef } = world.row(ID).metadata;
  const inWorktree = workspaceFreedAtMs === null ? notesOf(world) : undefined;
  expect(inWorktree === "mine\n" || salvageRef === REF).toBe(true);
}

async function expectTruth(
  world: World,
  scenario: Scenario,
  { before, outcome }: { readonly before: Awaited<ReturnType<typeof state>>; readonly outcome: unknown },
): Promise<void> {
  const after = await state(world);
  const isFreedNow = before.isThere && !after.isThere;
  const kept = scenario.work ? REF : null;
  if (!(outcome instanceof Error)) {
    if (isFreedNow) expect(outcome).toMatchObject({ cleaned: [{ id: ID, salvageRef: kept }] });
    return;
  }
  if (isAoError(outcome) && saysUnchanged(outcome)) expect(after).toEqual(before);
  if (isFreedNow) expect(outcome).toMatchObject({ details: { workspaceFreed: true, salvageRef: kept } });
  else expect(outcome.message).not.toContain("was freed");
}

async function expectRecovered(world: World, scenario: Scenario): Promise<void> {
  const { deps } = world;
  expect(await reconcile(deps)).toMatchObject({ errors: [] });
  expect(deps.operations.unfinished()).toEqual({ operations: [], unreadable: [] });
  if (scenario.work) expectWork(world);
  const repeated = await scenario.act(deps, world);
  expect(deps.operations.unfinished().operations).toEqual([]);
  const live = deps.store.list().filter(({ lifecycle }) => !isTerminal(lifecycle));
  expect(world.runtime.sessions()).toEqual(live.map(({ id }) => id));
  if (scenario.end === "live") expect(live).toHaveLength(1);
  else expect([live.length, world.workspace.exists(PATH)]).toEqual([0, false]);
  if (scenario.name.startsWith("kill")) {
    expect(repeated).toMatchObject({ workspaceFreed: true, salvageRef: scenario.work ? REF : null });
  }
  if (!scenario.work) return;
  if (scenario.end === "freed") await world.restore(ID);
  expect(notesOf(world)).toBe("mine\n");
}

describe.each(scenarios)("a $name", (scenario) => {
  test("whose step fails says the truth, and one reconcile sets right what it left", async () => {
    const boundaries = await boundariesOf(scenario);
    expect(boundaries.length).toBeGreaterThan(5);
    for (const at of boundaries) {
      for (const failure of FAILURES) {
        const world = await scenario.arrange();
        const before = await state(world);
        const failing = failingAt(world, at, failure());
        const outcome: unknown = await scenario.act(failing, world).catch((error: unknown) => error);
        try {
          await expectTruth(world, scenario, { before, outcome });
          await expectRecovered(world, scenario);
        } catch (cause) {
          throw new Error(`${failure().message} at ${at}: ${String(cause)}`, { cause });
        }
      }
    }
  });
});
