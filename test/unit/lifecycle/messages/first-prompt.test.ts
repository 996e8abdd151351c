import { describe, expect, test } from "vitest";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import { aSpawnRequest, aWorld, type World } from "../../../support/world.ts";
import { ID, typed } from "./message-world.ts";

/** A session whose agent takes its first prompt as a message, and is gone before it takes it. */
async function aGoneWorld(): Promise<{ readonly world: World; readonly warnings: readonly string[] }> {
  const world = aWorld({ capabilities: { firstPrompt: "message" } });
  const sleep = async (ms: number) => {
    if (world.deps.messages.firstQueued(ID) !== undefined) world.runtime.exitAgent(ID, 1);
    await world.clock.sleep(ms);
  };
  const deps = { ...world.deps, clock: { ...world.clock, sleep } };
  const { record, warnings } = await spawnSession(deps, aSpawnRequest(world.project));
  world.agent.addConversation(record.metadata.agentSessionId ?? "");
  return { world, warnings };
}

describe("the first prompt of an agent that is gone before it takes it", () => {
  test("stays queued, and a person is told what sends it", async () => {
    const { world, warnings } = await aGoneWorld();
    expect(warnings).toEqual([
      "the prompt was not sent: session app-1 is terminated; it waits for: ao restore app-1",
    ]);
    expect(world.deps.messages.queued(ID)).toMatchObject([{ channel: "launch", text: "do the thing" }]);
    expect(typed(world)).toEqual([]);
  });

  test.each([false, true])("is sent once by what that names (anew: %s)", async (fresh) => {
    const { world } = await aGoneWorld();
    await world.kill(ID);
    const listening = {
      ...world.clock,
      sleep: (ms: number) => ready(world).then(() => world.clock.sleep(ms)),
    };
    const { settings } = world;
    await restoreSession({ ...world.deps, clock: listening }, ID, { fresh, settings });
    expect(typed(world)).toEqual(["do the thing"]);
    expect(world.deps.messages.queued(ID)).toEqual([]);
  });
});

function ready(world: World): Promise<void> {
  return world.hear(ID, "ready");
}
