import { describe, expect, test } from "vitest";
import { type KillOptions, killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import { sendMessage } from "../../../../src/lifecycle/messages/send-message.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";
const requestId = "request-1";

const kill = ({ deps }: World, overrides: Partial<KillOptions> = {}) =>
  killSession(deps, ID, {
    ...{ reason: "manual", note: null, keepWorktree: false, callerSessionId: null, requestId },
    ...overrides,
  });

const restore = ({ deps, settings }: World) =>
  restoreSession(deps, ID, { fresh: false, settings, requestId });

const work = (world: World) => world.snapshots.work.write(PATH, "notes.txt", "mine\n");

interface Row {
  readonly name: string;
  /** Brings the world to where the request finds it. */
  build(world: World): Promise<unknown>;
  ask(world: World): Promise<unknown>;
  /** What else happens before the request is repeated. */
  meanwhile(world: World): Promise<unknown>;
}

const spawned = (world: World) => world.spawn();
const restored = async (world: World) => void (await world.restore(ID));
const killed = async (world: World) => void (await world.kill(ID));

const endedWorld = async (world: World) => {
  await spawned(world);
  await killed(world);
};
const keptWorld = async (world: World) => {
  await spawned(world);
  await kill(world, { keepWorktree: true, requestId: null });
};
const workedWorld = async (world: World) => {
  await spawned(world);
  work(world);
};
const salvagedWorld = async (world: World) => {
  await workedWorld(world);
  await kill(world, { salvage: true, requestId: null });
};

const rows: readonly Row[] = [
  { name: "a kill that ended a session", build: spawned, ask: kill, meanwhile: restored },
  {
    name: "a kill that found the session ended and its worktree freed",
    build: endedWorld,
    ask: kill,
    meanwhile: restored,
  },
  {
    name: "a kill that found the session ended and freed its worktree",
    build: keptWorld,
    ask: kill,
    meanwhile: restored,
  },
  {
    name: "a kill that left the worktree where it is",
    build: spawned,
    ask: (world) => kill(world, { keepWorktree: true }),
    meanwhile: restored,
  },
  {
    name: "a kill that kept the work aside",
    build: workedWorld,
    ask: (world) => kill(world, { salvage: true }),
    meanwhile: restored,
  },
  {
    name: "a kill that was refused the worktree",
    build: workedWorld,
    ask: (world) => kill(world).catch((error: unknown) => String(error)),
    meanwhile: restored,
  },
  {
    name: "a restore",
    build: endedWorld,
    ask: async (world) => ({ ...(await restore(world)), record: ID }),
    meanwhile: killed,
  },
  {
    name: "a restore that put work back",
    build: salvagedWorld,
    ask: async (world) => ({ ...(await restore(world)), record: ID }),
    meanwhile: (world) => kill(world, { keepWorktree: true, requestId: null }),
  },
  {
    name: "a message that was left in its queue",
    build: spawned,
    ask: (world) => sendMessage(world.deps, ID, "hello", { timeoutMs: 0, wait: false, requestId }),
    meanwhile: killed,
  },
];

describe("a repeat of a request gives its first result and changes nothing, whatever happened since", () => {
  test.each(rows.map((row) => [row.name, row] as const))("%s", async (_name, { build, ask, meanwhile }) => {
    const world = aWorld();
    await build(world);
    const first = await ask(world);
    await meanwhile(world);
    const before = world.row(ID);
    world.clearLog();
    expect(await ask(world)).toEqual(first);
    expect(world.row(ID)).toEqual(before);
    expect(world.log.filter((call) => /destroy|create|salvage|putBack/.test(call))).toEqual([]);
  });
});
