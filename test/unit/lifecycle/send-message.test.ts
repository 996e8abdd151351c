import { describe, expect, test } from "vitest";
import { AoError } from "../../../src/domain/errors.ts";
import type { HookEvent } from "../../../src/domain/facts.ts";
import type { SessionDeps } from "../../../src/lifecycle/deps.ts";
import { observeSessions } from "../../../src/lifecycle/observe-sessions.ts";
import { type SendResult, sendMessage } from "../../../src/lifecycle/send-message.ts";
import type { RuntimeTarget } from "../../../src/ports/runtime.ts";
import { sessionId } from "../../support/builders.ts";
import { aWorld, type World, type WorldOptions } from "../../support/world.ts";

const ID = sessionId("app-1");
const GRACE = { timeoutMs: 1000 };

function send({ deps }: World, text = "hello"): Promise<SendResult> {
  return sendMessage(deps, ID, text, GRACE);
}

/** A world with one session whose agent was heard from. */
async function aWorkingWorld(options: WorldOptions = {}): Promise<World> {
  const world = aWorld(options);
  await world.spawn();
  await world.hear(ID, "active");
  return world;
}

describe("a message", () => {
  test("goes to the session's agent through the messenger, byte for byte", async () => {
    const world = await aWorkingWorld();
    const text = "line one\nline two;\t\u{1f600}\n";
    expect(await send(world, text)).toEqual({
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sessionId: "app-1",
      state: "delivered",
      turnId: null,
    });
    expect(world.messenger.sent).toMatchObject([
      { text, target: { sessionId: "app-1", launchId: "launch-1", handle: { id: "$1" }, receipts: true } },
    ]);
  });

  test("saves what was seen on the way", async () => {
    const world = await aWorkingWorld();
    await send(world);
    expect(world.row(ID).lifecycle.session.state).toBe("working");
  });

  test("to an agent that cannot confirm is unconfirmed, and no error", async () => {
    const world = await aWorkingWorld({ capabilities: { receipts: false } });
    expect(await send(world)).toMatchObject({ state: "unconfirmed" });
  });

  test("that an agent should have confirmed and did not is an error with its id", async () => {
    const world = await aWorkingWorld();
    world.messenger.setListener(ID, "deaf");
    await expect(send(world)).rejects.toMatchObject({
      code: "delivery_unconfirmed",
      details: { sessionId: "app-1", messageId: expect.any(String) },
    });
  });

  test("that the terminal refuses is that error", async () => {
    const world = await aWorkingWorld();
    world.messenger.setListener(ID, "refuses");
    await expect(send(world)).rejects.toMatchObject({ code: "delivery_failed" });
  });

  test.each([
    ["empty", ""],
    ["only white space", " \n\t"],
    ["with NUL", "a\0b"],
    ["over 1 MiB", "x".repeat(1024 * 1024 + 1)],
    ["over 1 MiB of bytes, though not of characters", "ä".repeat(512 * 1024 + 1)],
  ])("%s is refused before anything", async (_name, text) => {
    const world = await aWorkingWorld();
    world.clearLog();
    await expect(send(world, text)).rejects.toMatchObject({ code: "usage" });
    expect(world.log).toEqual([]);
  });

  test("of just 1 MiB is sent", async () => {
    const world = await aWorkingWorld();
    const text = "ä".repeat(512 * 1024);
    await send(world, text);
    expect(world.messenger.sent[0]?.text).toBe(text);
  });
});

describe("an agent that was not heard from yet", () => {
  test("is waited for", async () => {
    const world = aWorld();
    await world.spawn();
    const startedAtMs = world.clock.nowMs();
    const sent = send(world);
    await world.hear(ID, "active", { atMs: startedAtMs });
    expect(await sent).toMatchObject({ state: "delivered" });
  });

  test("is busy when it does not begin in time; nothing is sent", async () => {
    const world = aWorld();
    await world.spawn();
    const startedAtMs = world.clock.nowMs();
    await expect(send(world)).rejects.toMatchObject({ code: "busy" });
    expect(world.clock.nowMs() - startedAtMs).toBe(GRACE.timeoutMs);
    expect(world.messenger.sent).toEqual([]);
  });

  test("is given up by the clock, however long a look takes", async () => {
    const world = aWorld();
    await world.spawn();
    const startedAtMs = world.clock.nowMs();
    const runtime = {
      ...world.deps.runtime,
      look: (targets: readonly RuntimeTarget[]) => {
        world.clock.advance(600);
        return world.deps.runtime.look(targets);
      },
    };
    await expect(sendMessage({ ...world.deps, runtime }, ID, "hello", GRACE)).rejects.toMatchObject({
      code: "busy",
    });
    expect(world.clock.nowMs() - startedAtMs).toBeLessThanOrEqual(GRACE.timeoutMs + 600);
  });

  test("is given up though the clock jumps back", async () => {
    const world = aWorld();
    await world.spawn();
    let looks = 0;
    const runtime = {
      ...world.deps.runtime,
      look: (targets: readonly RuntimeTarget[]) => {
        looks += 1;
        if (looks === 2) world.clock.advance(-3_600_000);
        return world.deps.runtime.look(targets);
      },
    };
    await expect(sendMessage({ ...world.deps, runtime }, ID, "hello", GRACE)).rejects.toMatchObject({
      code: "busy",
    });
    expect(looks).toBeLessThan(10);
  });

  test("is not waited for when it has no hooks to be heard through", async () => {
    const world = aWorld({ capabilities: { hooks: false, receipts: false } });
    await world.spawn();
    const startedAtMs = world.clock.nowMs();
    expect(await send(world)).toMatchObject({ state: "unconfirmed" });
    expect(world.clock.nowMs()).toBe(startedAtMs);
  });

  test("that dies meanwhile is not running", async () => {
    const world = aWorld();
    await world.spawn();
    const sent = send(world);
    world.runtime.exitAgent(ID, 1);
    await expect(sent).rejects.toMatchObject({ code: "not_running" });
  });
});

describe("an agent that waits for a person", () => {
  const asking = (world: World, asks: "question" | "permission"): SessionDeps => {
    const interpret = (event: HookEvent) => {
      const signal = world.agent.interpret(event);
      return signal?.activity === "waiting_input" ? { ...signal, asks } : signal;
    };
    return { ...world.deps, agents: new Map([[world.agent.name, { ...world.agent, interpret }]]) };
  };

  test("to permit something is not typed to: the text would be the answer", async () => {
    const world = await aWorkingWorld();
    await world.hear(ID, "waiting_input");
    const sent = sendMessage(asking(world, "permission"), ID, "hello", GRACE);
    await expect(sent).rejects.toMatchObject({ code: "busy", hint: "answer it: ao attach app-1" });
    expect(world.messenger.sent).toEqual([]);
  });

  test("to permit something gets the message when it was answered in time", async () => {
    const world = await aWorkingWorld();
    await world.hear(ID, "waiting_input");
    const deps = asking(world, "permission");
    await observeSessions(deps);
    const sent = sendMessage(deps, ID, "hello", GRACE);
    await world.hear(ID, "active");
    expect(await sent).toMatchObject({ state: "delivered" });
  });

  test("to answer a question gets the message", async () => {
    const world = await aWorkingWorld();
    await world.hear(ID, "waiting_input");
    expect(await sendMessage(asking(world, "question"), ID, "hello", GRACE)).toMatchObject({
      state: "delivered",
    });
  });
});

describe("a message is refused", () => {
  test("for an unknown session", async () => {
    await expect(send(aWorld())).rejects.toMatchObject({ code: "session_not_found" });
  });

  test("for a terminated session, with the way back", async () => {
    const world = await aWorkingWorld();
    await world.kill(ID);
    await expect(send(world)).rejects.toMatchObject({ code: "not_running", hint: "ao restore app-1" });
  });

  test("for an agent that was killed a moment ago, with the way back", async () => {
    const world = await aWorkingWorld();
    world.runtime.exitAgent(ID, null, "9");
    await expect(send(world)).rejects.toMatchObject({
      code: "not_running",
      hint: "ao kill app-1, then ao restore app-1",
    });
    expect(world.messenger.sent).toEqual([]);
  });

  test("when it could not look; then nothing is written", async () => {
    const world = await aWorkingWorld();
    const before = world.row(ID);
    world.runtime.failNext("look", new AoError("runtime_unavailable", "tmux: timed out"));
    await expect(send(world)).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(world.row(ID)).toEqual(before);
    expect(await world.deps.inbox.pending()).toHaveLength(1);
  });
});
