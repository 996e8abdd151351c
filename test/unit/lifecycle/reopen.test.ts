import { describe, expect, test } from "vitest";
import { attachCommand } from "../../../src/lifecycle/attach-command.ts";
import { captureOutput } from "../../../src/lifecycle/capture-output.ts";
import { cleanupSessions } from "../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import { sendMessage } from "../../../src/lifecycle/messages/send-message.ts";
import { getSession, listSessions } from "../../../src/lifecycle/observe/list-sessions.ts";
import { findOrphans } from "../../../src/lifecycle/recovery/find-orphans.ts";
import { reconcile } from "../../../src/lifecycle/recovery/reconcile.ts";
import { sessionId } from "../../support/builders.ts";
import { aWorld, type World } from "../../support/world.ts";

const ID = sessionId("app-1");
const ALL = { projectId: null, olderThanMs: null };

/** Two sessions whose runtimes live on where nobody sees them, as when a cleaner removed a socket. */
async function anUnseenWorld(): Promise<World> {
  const world = aWorld({ capabilities: { hooks: false, receipts: false } });
  await world.spawn({ branch: "one" });
  await world.spawn({ branch: "two" });
  world.runtime.loseSight();
  return world;
}

async function statesOf({ deps }: World): Promise<readonly string[]> {
  const { sessions } = await listSessions(deps, { projectId: null, stored: false });
  return sessions.map(({ lifecycle }) => lifecycle.runtime.state);
}

describe("runtimes out of reach", () => {
  test.each<[string, (world: World) => Promise<unknown>]>([
    ["list", ({ deps }) => listSessions(deps, { projectId: null, stored: false })],
    ["show", ({ deps }) => getSession(deps, ID, { stored: false })],
    ["output", ({ deps }) => captureOutput(deps, ID, 1)],
    ["attach", ({ deps }) => attachCommand(deps, ID)],
    ["the search for orphans", ({ deps }) => findOrphans(deps)],
  ])("stay so after %s, which only reads", async (_name, read) => {
    const world = await anUnseenWorld();
    await read(world).catch(() => undefined);
    expect(await statesOf(world)).toEqual(["probe_failed", "probe_failed"]);
  });

  test.each<[string, readonly string[], (world: World) => Promise<unknown>]>([
    ["spawn", ["alive", "alive", "alive"], (world) => world.spawn({ branch: "three" })],
    ["send", ["alive", "alive"], ({ deps }) => sendMessage(deps, ID, "hello", { timeoutMs: 0 })],
    ["kill", ["exited", "alive"], (world) => world.kill(ID)],
    ["cleanup", ["alive", "alive"], ({ deps }) => cleanupSessions(deps, { ...ALL, dryRun: false })],
    [
      "cleanup --dry-run, which tells what the run would do",
      ["alive", "alive"],
      ({ deps }) => cleanupSessions(deps, { ...ALL, dryRun: true }),
    ],
    ["reconcile", ["alive", "alive"], ({ deps }) => reconcile(deps)],
  ])("are reached again by %s, which succeeds", async (_name, states, change) => {
    const world = await anUnseenWorld();
    await change(world);
    expect(await statesOf(world)).toEqual(states);
  });

  test("are reached again by restore, which succeeds", async () => {
    const world = await anUnseenWorld();
    await world.kill(ID);
    world.runtime.loseSight();
    await world.restore(ID);
    expect(await statesOf(world)).toEqual(["alive", "alive"]);
  });
});
