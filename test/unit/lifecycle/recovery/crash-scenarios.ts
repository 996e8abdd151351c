import { AoError } from "../../../../src/domain/errors.ts";
import { cleanupSessions } from "../../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import { sessionId } from "../../../support/builders.ts";
import { aSpawnRequest, aWorld, type World, type WorldOptions } from "../../../support/world.ts";

/** A neighbour that is at work, with something to lose. */
export const NEIGHBOUR = sessionId("app-1");
/** The session that the command is about. */
export const SUBJECT = sessionId("app-2");
export const pathOf = (id: string) => `/data/worktrees/app/${id}`;

/** A command that may be killed anywhere. */
export interface Scenario {
  readonly name: string;
  arrange(): Promise<World>;
  /** With the same request id each time. */
  act(deps: SessionDeps, world: World): Promise<unknown>;
  /** What is true of the subject once the command was carried out, however often it was tried. */
  readonly end: "live" | "freed" | "kept" | "absent" | "as before";
}

async function aNeighbourhood(options: WorldOptions = {}): Promise<World> {
  const world = aWorld(options);
  await world.spawn({ issueId: "1" });
  world.workspace.refuse(pathOf(NEIGHBOUR));
  return world;
}

async function withSubject(options: { readonly dirty?: boolean; readonly killed?: boolean } = {}) {
  const world = await aNeighbourhood();
  await world.spawn();
  if (options.dirty === true) world.workspace.refuse(pathOf(SUBJECT));
  if (options.killed === true) await world.kill(SUBJECT).catch(() => undefined);
  return world;
}

const kill = (keepWorktree: boolean) => (deps: SessionDeps) =>
  killSession(deps, SUBJECT, {
    ...{ reason: "manual", note: null, keepWorktree, callerSessionId: null },
    requestId: "request-1",
  });

const restore = (fresh: boolean) => (deps: SessionDeps, world: World) =>
  restoreSession(deps, SUBJECT, { fresh, settings: world.settings, requestId: "request-1" });

const spawn = (deps: SessionDeps, world: World) =>
  spawnSession(deps, aSpawnRequest(world.project, { requestId: "request-1" }));

const cleanup = (deps: SessionDeps) =>
  cleanupSessions(deps, { projectId: null, dryRun: false, olderThanMs: null });

export const SCENARIOS: readonly Scenario[] = [
  { name: "spawn", arrange: () => aNeighbourhood(), act: spawn, end: "live" },
  {
    name: "spawn on a branch that exists",
    async arrange() {
      const world = await aNeighbourhood();
      world.workspace.addBranch("/repo/app", "feat/42");
      return world;
    },
    act: spawn,
    end: "live",
  },
  {
    name: "spawn whose agent exits at birth",
    arrange: () =>
      aNeighbourhood({
        behaviour: ({ sessionId: id }) =>
          id === NEIGHBOUR ? { kind: "stays", output: [] } : { kind: "exits", exitStatus: 7, output: [] },
      }),
    act: spawn,
    end: "absent",
  },
  {
    name: "spawn whose row cannot be completed",
    async arrange() {
      const world = await aNeighbourhood();
      world.failNext("store.save", new AoError("store_busy", "locked"));
      return world;
    },
    act: spawn,
    end: "live",
  },
  { name: "kill", arrange: () => withSubject(), act: kill(false), end: "freed" },
  {
    name: "kill with work in the worktree",
    arrange: () => withSubject({ dirty: true }),
    act: kill(false),
    end: "kept",
  },
  { name: "kill that keeps the worktree", arrange: () => withSubject(), act: kill(true), end: "kept" },
  {
    name: "restore of a freed session",
    arrange: () => withSubject({ killed: true }),
    act: restore(false),
    end: "live",
  },
  {
    name: "fresh restore with work in the worktree",
    arrange: () => withSubject({ killed: true, dirty: true }),
    act: restore(true),
    end: "live",
  },
  {
    name: "restore whose agent cannot start",
    async arrange() {
      const world = await withSubject({ killed: true });
      world.runtime.failNext("create", new AoError("runtime_unavailable", "no"));
      return world;
    },
    act: restore(false),
    end: "as before",
  },
  {
    name: "restore whose row cannot be completed",
    async arrange() {
      const world = await withSubject({ killed: true });
      world.failNext("store.save", new AoError("store_busy", "locked"), 2);
      return world;
    },
    act: restore(false),
    end: "live",
  },
  {
    name: "cleanup",
    async arrange() {
      const world = await withSubject({ killed: true, dirty: true });
      world.workspace.allow(pathOf(SUBJECT));
      return world;
    },
    act: cleanup,
    end: "freed",
  },
];
