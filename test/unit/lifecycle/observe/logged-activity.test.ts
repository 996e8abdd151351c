import { describe, expect, test } from "vitest";
import type { ActivityState } from "../../../../src/domain/lifecycle.ts";
import { deriveStatus } from "../../../../src/domain/status.ts";
import { listSessions } from "../../../../src/lifecycle/observe/list-sessions.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");

interface Told {
  readonly hook?: ActivityState;
  /** What the agent's own log says, `agoMs` before now; nothing when it cannot be read. */
  readonly log?: ActivityState;
  readonly agoMs?: number;
  readonly screen?: string;
}

/** A session, ten seconds old, whose agent tells what it does by some of the three ways. */
async function aWorldThatTells({ hook, log, agoMs = 0, screen = "" }: Told): Promise<World> {
  const world = aWorld({ behaviour: () => ({ kind: "stays", output: [screen] }) });
  Object.assign(world.agent, { screen: { waiting: [], busy: [/^working/], ready: [] } });
  await world.spawn();
  world.clock.advance(10_000);
  show(world);
  if (log !== undefined) write(world, log, agoMs);
  if (hook !== undefined) await world.hear(ID, hook);
  world.clearLog();
  return world;
}

function show(world: World, process: "alive" | "dead" = "alive"): void {
  const runtime = { kind: "alive", lastOutputAtMs: world.clock.nowMs() } as const;
  world.runtime.setLook(ID, { runtime, process: { kind: process } });
}

function write(world: World, state: ActivityState, agoMs = 0): void {
  const { agentSessionId } = world.row(ID).metadata;
  world.agent.setLoggedActivity(agentSessionId ?? "", { state, atMs: world.clock.nowMs() - agoMs });
}

const listed = async ({ deps }: World) =>
  (await listSessions(deps, { projectId: null, stored: false })).sessions.map(({ lifecycle }) => [
    deriveStatus(lifecycle),
    lifecycle.activity.source,
  ])[0];

const screensRead = ({ log }: World) => log.filter((line) => line.startsWith("runtime.screens")).length;

describe("what an agent does is told by", () => {
  test.each<[string, Told, readonly string[]]>([
    [
      "its hooks before its log and its screen",
      { hook: "ready", log: "waiting_input", screen: "working" },
      ["idle", "hook"],
    ],
    ["its log before its screen", { log: "waiting_input", screen: "working" }, ["needs_input", "native"]],
    ["its log alone", { log: "idle" }, ["idle", "native"]],
    ["its screen when the log cannot be read", { screen: "working" }, ["working", "terminal"]],
    [
      "its screen when the log is older than the launch",
      { log: "idle", agoMs: 10_001, screen: "working" },
      ["working", "terminal"],
    ],
    ["its log from the moment of the launch on", { log: "idle", agoMs: 10_000 }, ["idle", "native"]],
    ["nothing when the log is older than the launch", { log: "idle", agoMs: 10_001 }, ["spawning", "none"]],
    ["nothing when there is none of them", {}, ["spawning", "none"]],
  ])("%s", async (_, told, expected) => {
    const world = await aWorldThatTells(told);
    expect(await listed(world)).toEqual(expected);
    expect(screensRead(world)).toBe(told.hook !== undefined || expected[1] === "native" ? 0 : 1);
    await observeSessions(world.deps);
    expect(await listed(world)).toEqual(expected);
    expect((await observeSessions(world.deps)).changed).toEqual([]);
  });
});

describe("an agent that is read from its log", () => {
  test("is followed in it, until it is heard", async () => {
    const world = await aWorldThatTells({ log: "active", screen: "working" });
    await observeSessions(world.deps);
    world.clock.advance(1000);
    write(world, "waiting_input");
    expect(await listed(world)).toEqual(["needs_input", "native"]);
    await observeSessions(world.deps);
    world.clock.advance(1000);
    await world.hear(ID, "ready");
    await observeSessions(world.deps);
    world.clock.advance(1000);
    write(world, "active");
    expect(await listed(world)).toEqual(["idle", "hook"]);
    expect(screensRead(world)).toBe(0);
  });

  test("is not, once it was heard at the moment that its log tells", async () => {
    const world = await aWorldThatTells({ log: "idle" });
    await observeSessions(world.deps);
    await world.hear(ID, "idle");
    await observeSessions(world.deps);
    world.clock.advance(1000);
    write(world, "active");
    expect((await listed(world))?.[0]).toBe("idle");
  });

  test("is no life when its process is dead", async () => {
    const world = await aWorldThatTells({ log: "idle" });
    show(world, "dead");
    expect(await listed(world)).toEqual(["detecting", "none"]);
  });

  test("is not told by what it did before it was restored, though nobody had looked", async () => {
    const world = aWorld();
    await world.spawn();
    world.clock.advance(1000);
    write(world, "waiting_input");
    await world.kill(ID);
    world.clock.advance(1000);
    await world.restore(ID);
    expect(await listed(world)).toEqual(["spawning", "none"]);
    write(world, "active");
    expect(await listed(world)).toEqual(["working", "native"]);
  });
});
