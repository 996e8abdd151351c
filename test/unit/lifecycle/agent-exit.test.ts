import { describe, expect, test } from "vitest";
import type { RuntimeFact } from "../../../src/domain/facts.ts";
import { listSessions } from "../../../src/lifecycle/observe/list-sessions.ts";
import { observeSessions } from "../../../src/lifecycle/observe/observe-sessions.ts";
import { sessionId, T0_MS } from "../../support/builders.ts";
import { aWorld, type World } from "../../support/world.ts";

const ID = sessionId("app-1");
const KILLED = { status: null, signal: "SIGKILL", atMs: T0_MS };

/** A world with one session; a look sees its agent as given, its process dead. */
async function aWorldThatSees(runtime: RuntimeFact): Promise<World> {
  const world = aWorld();
  await world.spawn();
  await world.hear(ID, "active");
  see(world, runtime);
  return world;
}

function see(world: World, runtime: RuntimeFact): void {
  world.runtime.setLook(ID, { runtime, process: { kind: "dead" } });
}

const exited = (exitStatus: number | null, signal: string | null): RuntimeFact => ({
  ...{ kind: "exited", exitStatus, signal },
  atMs: T0_MS,
});

describe("how an agent ended", () => {
  test.each([
    ["by a signal", exited(null, "SIGKILL"), KILLED],
    ["with a status", exited(3, null), { status: 3, signal: null, atMs: T0_MS }],
    ["well", exited(0, null), { status: 0, signal: null, atMs: T0_MS }],
    ["in a way that nobody was told yet", exited(null, null), null],
    ["unseen", { kind: "missing" } as const, null],
  ])("%s is on record after a look", async (_how, runtime, expected) => {
    const world = await aWorldThatSees(runtime);
    await observeSessions(world.deps);
    expect(world.row(ID).metadata.exit ?? null).toEqual(expected);
  });

  test("is learnt once: a later look changes nothing of it", async () => {
    const world = await aWorldThatSees(exited(null, null));
    await observeSessions(world.deps);
    see(world, exited(null, "SIGKILL"));
    await observeSessions(world.deps);
    for (const later of [exited(1, null), { kind: "missing" } as const]) {
      see(world, later);
      await observeSessions(world.deps);
      expect(world.row(ID).metadata.exit).toEqual(KILLED);
    }
  });

  test("is in a list that writes nothing", async () => {
    const world = await aWorldThatSees(exited(null, "SIGKILL"));
    const before = world.row(ID);
    const { sessions } = await listSessions(world.deps, { projectId: null, stored: false });
    expect(sessions[0]?.metadata.exit).toEqual(KILLED);
    expect(world.row(ID)).toEqual(before);
  });

  test("is kept by a kill, which takes away what tells of it", async () => {
    const world = await aWorldThatSees(exited(3, null));
    await world.kill(ID);
    expect(world.row(ID)).toMatchObject({
      lifecycle: { session: { reason: "manually_killed" } },
      metadata: { exit: { status: 3, signal: null, atMs: T0_MS } },
    });
  });

  test("is nothing of an agent that a kill ended", async () => {
    const world = aWorld();
    await world.spawn();
    await world.kill(ID);
    expect(world.row(ID).metadata.exit ?? null).toBeNull();
  });

  test("is forgotten when another one is launched", async () => {
    const world = await aWorldThatSees(exited(3, null));
    await world.kill(ID);
    world.runtime.setLook(ID, null);
    await world.restore(ID);
    expect(world.row(ID).metadata.exit).toBeNull();
  });
});
