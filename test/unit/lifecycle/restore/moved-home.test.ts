import { describe, expect, test } from "vitest";
import { forkSession } from "../../../../src/lifecycle/forks/fork-session.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import type { ProjectSettings } from "../../../../src/lifecycle/projects/projects.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const MOVED = "/srv/agent";

function settingsOf(world: World, home: string | null): ProjectSettings {
  return { ...world.settings, env: home === null ? {} : { AGENT_HOME: home } };
}

/** A killed session whose agent kept its conversation where the project's own `env` said. */
async function killedIn(home: string | null): Promise<World> {
  const world = aWorld();
  const { metadata } = await world.spawn({ settings: settingsOf(world, home) });
  world.agent.addConversation(metadata.agentSessionId ?? "", home ?? undefined);
  await world.kill(ID);
  return world;
}

function restoreIn(world: World, home: string | null, deps = world.deps) {
  return restoreSession(deps, ID, { fresh: false, settings: settingsOf(world, home) });
}

describe("an agent whose home the project's env moves", () => {
  test("takes its conversation up again there", async () => {
    const world = await killedIn(MOVED);
    const before = world.row(ID).metadata.agentSessionId;
    const { record, fresh } = await restoreIn(world, MOVED);
    expect([fresh, record.metadata.agentSessionId, record.metadata.agentHome]).toEqual([
      false,
      before,
      MOVED,
    ]);
  });

  test("is asked there what it tells in files of its own", async () => {
    const asked: unknown[] = [];
    const readEvents = async (place: object) => {
      asked.push(place);
      return [];
    };
    const world = aWorld();
    const agent = { ...world.agent, readEvents };
    const deps = { ...world.deps, agents: new Map([[agent.name, agent]]) };
    await world.spawn({ settings: settingsOf(world, MOVED) });
    await observeSessions(deps);
    expect(asked).toMatchObject([{ home: MOVED }]);
  });

  test("is not restored where it would not find its conversation, and both places are named", async () => {
    const world = await killedIn(MOVED);
    await expect(restoreIn(world, null)).rejects.toMatchObject({
      code: "agent_session_unknown",
      message: expect.stringMatching(/ in \/home\/agent; it was begun in \/srv\/agent$/),
    });
    expect(world.row(ID).metadata.agentHome).toBe(MOVED);
  });

  test("follows today's configuration when its conversation was moved with it", async () => {
    const world = await killedIn(null);
    world.agent.addConversation(world.row(ID).metadata.agentSessionId ?? "", MOVED);
    const { record } = await restoreIn(world, MOVED);
    expect(record.metadata.agentHome).toBe(MOVED);
  });

  test("is known to be there also when a restore is finished by another process", async () => {
    const world = await killedIn(null);
    world.agent.addConversation(world.row(ID).metadata.agentSessionId ?? "", MOVED);
    await inProcess(world, { crashAtBoundary: "restore.runtime.create:after" }, (deps) =>
      restoreIn(world, MOVED, deps),
    );
    await reconcile(world.deps);
    expect(world.row(ID).metadata.agentHome).toBe(MOVED);
  });

  test("is told to copy its conversation from there to where the fork's will be", async () => {
    const world = aWorld();
    const deps = { ...world.deps, checkpoints: world.snapshots };
    const { metadata } = await world.spawn({ prompt: null, settings: settingsOf(world, MOVED) });
    const conversation = metadata.agentSessionId ?? "";
    world.agent.addConversation(conversation, MOVED);
    await world.hear(ID, "submit", { body: "one" });
    const entry = { position: 1, after: null, role: "user", text: "one", atMs: world.clock.nowMs() } as const;
    world.agent.setLog(conversation, [{ ...entry, edge: "start", detail: {} }]);
    world.clock.advance(3000);
    await world.hear(ID, "stop");
    await observeSessions(deps);
    await forkSession(deps, ID, {
      ...{ turnId: null, branch: null, prompt: null, title: null },
      settings: settingsOf(world, "/srv/new"),
    });
    expect(world.agent.forks).toMatchObject([{ source: { home: MOVED }, home: "/srv/new" }]);
  });
});
