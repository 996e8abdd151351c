import { describe, expect, test } from "vitest";
import { deriveStatus } from "../../../../src/domain/status.ts";
import { acceptMessage } from "../../../../src/lifecycle/messages/accept-message.ts";
import { deliverNext } from "../../../../src/lifecycle/messages/deliver-next.ts";
import { listSessions } from "../../../../src/lifecycle/observe/list-sessions.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const OTHER = sessionId("app-2");

/** Sessions whose agents, with hooks or without, declare what their screens tell; all show the same. */
async function aWorldThatShows(screen: { lines: readonly string[] }, hooks = true): Promise<World> {
  const world = aWorld({
    capabilities: { hooks, receipts: hooks },
    behaviour: () => ({ kind: "stays", output: screen.lines }),
  });
  Object.assign(world.agent, {
    screen: { waiting: [/^Do you trust/], busy: [/esc to interrupt/], ready: [/^>$/] },
  });
  for (const id of [ID, OTHER]) {
    await world.spawn({ issueId: null });
    const runtime = { kind: "alive", lastOutputAtMs: world.clock.nowMs() } as const;
    world.runtime.setLook(id, { runtime, process: { kind: "alive" } });
  }
  world.clearLog();
  return world;
}

const listed = async ({ deps }: World) =>
  (await listSessions(deps, { projectId: null, stored: false })).sessions.map(({ lifecycle }) => [
    deriveStatus(lifecycle),
    lifecycle.activity.source,
  ]);

describe("an agent that has told nothing", () => {
  test.each([
    ["Do you trust this folder?", ["needs_input", "terminal"]],
    ["(esc to interrupt)", ["working", "terminal"]],
    [">", ["idle", "terminal"]],
    ["hello", ["spawning", "none"]],
  ])("and shows %j is read from its screen, all of them at once", async (line, expected) => {
    const world = await aWorldThatShows({ lines: [line] });
    expect(await listed(world)).toEqual([expected, expected]);
    expect(world.log).toEqual([`runtime.look ${ID} ${OTHER}`, `runtime.screens ${ID} ${OTHER}`]);
    await observeSessions(world.deps);
    expect(await listed(world)).toEqual([expected, expected]);
    expect((await observeSessions(world.deps)).changed).toEqual([]);
  });

  test("is believed once it speaks, and its screen is not read any more", async () => {
    const world = await aWorldThatShows({ lines: ["Do you trust this folder?"] });
    await observeSessions(world.deps);
    await world.hear(ID, "active");
    world.clearLog();
    expect(await listed(world)).toEqual([
      ["working", "hook"],
      ["needs_input", "terminal"],
    ]);
    await observeSessions(world.deps);
    expect((await listed(world))[0]).toEqual(["working", "hook"]);
    expect(world.log.filter((line) => line.startsWith("runtime.screens"))).toEqual(
      Array(3).fill(`runtime.screens ${OTHER}`),
    );
  });

  test("is no life when its process is dead", async () => {
    const world = await aWorldThatShows({ lines: [">"] });
    const runtime = { kind: "alive", lastOutputAtMs: world.clock.nowMs() } as const;
    world.runtime.setLook(ID, { runtime, process: { kind: "dead" } });
    expect((await listed(world))[0]).toEqual(["detecting", "none"]);
  });

  test("and has no hooks is judged by its output where its screen says nothing", async () => {
    expect((await listed(await aWorldThatShows({ lines: [">"] }, false)))[0]).toEqual(["idle", "terminal"]);
    expect((await listed(await aWorldThatShows({ lines: ["hello"] }, false)))[0]).toEqual([
      "working",
      "runtime",
    ]);
  });
});

describe("a message for an agent that is known by its screen alone", () => {
  const send = async (lines: readonly string[]) => {
    const world = await aWorldThatShows({ lines }, false);
    const capabilities = { ...world.agent.capabilities, showsReadiness: true };
    Object.assign(world.agent, { capabilities });
    Object.assign(world.agent.screen ?? {}, { question: [/^Which/] });
    await acceptMessage(world.deps, ID, { text: "go on", requestId: null });
    const next = await deliverNext(world.deps, ID);
    return { next, typed: world.messenger.sent.map(({ text }) => text), world };
  };

  test.each([
    ["asks for trust", "Do you trust this folder?", "asks for permission"],
    ["is at work", "(esc to interrupt)", "at work"],
  ])("is not typed while that %s", async (_what, line, why) => {
    const { next, typed } = await send([line]);
    expect(next).toMatchObject({ kind: "not_ready", why: expect.stringContaining(why) });
    expect(typed).toEqual([]);
  });

  test.each([
    ["rests", ">"],
    ["asks a plain question", "Which colour?"],
  ])("is typed while that %s", async (_what, line) => {
    expect((await send([line])).typed).toEqual(["go on"]);
  });

  test("is not typed to a screen that nobody knows, however long it is quiet", async () => {
    const { next, typed, world } = await send(["Delete everything? (enter)"]);
    expect(next).toMatchObject({ kind: "not_ready" });
    world.clock.advance(600_000);
    expect(await deliverNext(world.deps, ID)).toMatchObject({
      kind: "not_ready",
      why: expect.stringContaining("ao output app-1"),
    });
    expect(typed).toEqual([]);
  });
});

test("an agent of which nothing tells when it takes a message gets none, and how to tell is said", async () => {
  const world = aWorld({ capabilities: { hooks: false, receipts: false, needsReadiness: true } });
  await world.spawn({ issueId: null, prompt: null });
  await acceptMessage(world.deps, ID, { text: "go on", requestId: null });
  expect(await deliverNext(world.deps, ID)).toMatchObject({
    kind: "not_ready",
    why: expect.stringContaining("screen.ready"),
  });
  expect(world.messenger.sent).toEqual([]);
});

test("the screen of an agent that declares nothing is not read", async () => {
  const world = aWorld();
  await world.spawn();
  world.clearLog();
  await listed(world);
  expect(world.log).toEqual([`runtime.look ${ID}`]);
});
