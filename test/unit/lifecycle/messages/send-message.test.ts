import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import type { SendOptions } from "../../../../src/lifecycle/messages/send-message.ts";
import { type SendResult, sendMessage } from "../../../../src/lifecycle/messages/send-message.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World, type WorldOptions } from "../../../support/world.ts";

const ID = sessionId("app-1");

function send({ deps }: World, text = "hello", options: Partial<SendOptions> = {}): Promise<SendResult> {
  return sendMessage(deps, ID, text, { timeoutMs: 1_000, ...options });
}

/** A world with one session whose agent rests. */
async function aRestingWorld(options: WorldOptions = {}): Promise<World> {
  const world = aWorld(options);
  await world.spawn({ prompt: null });
  world.clock.advance(1_000);
  await world.hear(ID, "ready");
  return world;
}

describe("a message", () => {
  test("goes to the session's agent through the messenger, byte for byte", async () => {
    const world = await aRestingWorld();
    const text = "line one\nline two;\t\u{1f600}\n";
    expect(await send(world, text)).toEqual({
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sessionId: "app-1",
      state: "delivered",
      turnId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      waitsFor: null,
    });
    expect(world.messenger.sent).toMatchObject([
      {
        text,
        target: { sessionId: "app-1", launchId: "launch-1", handle: { id: "$1" }, bracketedPaste: true },
      },
    ]);
  });

  test("is of the turn that the result names", async () => {
    const world = await aRestingWorld();
    const { turnId } = await send(world);
    expect(world.deps.turns.live(ID)).toMatchObject({ turnId, state: { kind: "running" } });
  });

  test("saves what was seen on the way", async () => {
    const world = await aRestingWorld();
    await send(world);
    expect(world.row(ID).lifecycle.session.state).toBe("working");
  });

  test("to an agent that cannot confirm is unconfirmed, and no error", async () => {
    const world = await aRestingWorld({ capabilities: { receipts: false } });
    expect(await send(world)).toMatchObject({ state: "unconfirmed", turnId: expect.any(String) });
  });

  test("to an agent without hooks is unconfirmed and of no turn", async () => {
    const world = await aRestingWorld({ capabilities: { hooks: false, receipts: false } });
    expect(await send(world)).toMatchObject({ state: "unconfirmed", turnId: null });
  });

  test("that an agent should have confirmed and did not is an error with its id", async () => {
    const world = await aRestingWorld();
    world.messenger.setListener(ID, "deaf");
    await expect(send(world)).rejects.toMatchObject({
      code: "delivery_unconfirmed",
      details: { sessionId: "app-1", messageId: expect.any(String), turnId: expect.any(String) },
    });
  });

  test("that the terminal refuses is that error", async () => {
    const world = await aRestingWorld();
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
    const world = await aRestingWorld();
    world.clearLog();
    await expect(send(world, text)).rejects.toMatchObject({ code: "usage" });
    expect(world.log).toEqual([]);
    expect(world.deps.messages.lastNumber(ID)).toBe(0);
  });

  test("of just 1 MiB is sent", async () => {
    const world = await aRestingWorld();
    const text = "ä".repeat(512 * 1024);
    await send(world, text);
    expect(world.messenger.sent[0]?.text).toBe(text);
  });
});

describe("a message that is not taken in time", () => {
  test("is queued, with what it waits for, and delivered by the next who comes", async () => {
    const world = aWorld();
    await world.spawn({ prompt: null });
    const result = await send(world, "one");
    expect(result).toMatchObject({
      state: "queued",
      turnId: null,
      waitsFor: expect.stringContaining("ao output app-1"),
    });
    await world.hear(ID, "ready");
    await send(world, "two");
    expect(world.messenger.sent.map(({ text }) => text)).toEqual(["one"]);
    expect(world.deps.messages.get(result.messageId)?.state.kind).toBe("delivered");
  });

  test("is left in the queue at once when it should not be waited for", async () => {
    const world = await aRestingWorld();
    const startedAtMs = world.clock.nowMs();
    expect(await send(world, "hello", { wait: false })).toMatchObject({
      state: "queued",
      waitsFor: "it was left to be delivered later",
    });
    expect(world.clock.nowMs()).toBe(startedAtMs);
    expect(world.messenger.sent).toEqual([]);
  });
});

describe("a message with a request id", () => {
  const requestId = "request-1";

  test("is sent once, and a repeat is told what became of it", async () => {
    const world = await aRestingWorld();
    const first = await send(world, "hello", { requestId });
    expect(await send(world, "hello", { requestId })).toEqual(first);
    expect(world.messenger.sent).toHaveLength(1);
    await world.kill(ID);
    expect(await send(world, "hello", { requestId })).toEqual(first);
  });

  test("that was queued is waited for again by a repeat", async () => {
    const world = await aRestingWorld();
    const queued = await send(world, "hello", { requestId, wait: false });
    expect(await send(world, "hello", { requestId })).toMatchObject({
      messageId: queued.messageId,
      state: "delivered",
    });
  });

  test("that was used for another text is a conflict", async () => {
    const world = await aRestingWorld();
    await send(world, "hello", { requestId });
    await expect(send(world, "other", { requestId })).rejects.toMatchObject({ code: "request_conflict" });
  });
});

describe("a message is refused", () => {
  test("for an unknown session", async () => {
    await expect(send(aWorld())).rejects.toMatchObject({ code: "session_not_found" });
    await expect(send(aWorld(), "hello", { wait: false })).rejects.toMatchObject({
      code: "session_not_found",
    });
  });

  test.each([true, false])("for a terminated session, with the way back (wait: %s)", async (wait) => {
    const world = await aRestingWorld();
    await world.kill(ID);
    const refused = { code: "not_running", hint: "ao restore app-1" };
    await expect(send(world, "hello", { wait })).rejects.toMatchObject(refused);
    expect(world.deps.messages.lastNumber(ID)).toBe(0);
  });

  test("for an agent that was killed a moment ago, with the way back", async () => {
    const world = await aRestingWorld();
    world.runtime.exitAgent(ID, null, "9");
    await expect(send(world)).rejects.toMatchObject({
      code: "not_running",
      hint: "ao kill app-1, then ao restore app-1",
    });
    expect(world.messenger.sent).toEqual([]);
    expect(world.deps.messages.lastNumber(ID)).toBe(0);
  });

  test("for an agent that dies while it is waited for, and is not sent later either", async () => {
    const world = aWorld();
    await world.spawn({ prompt: null });
    const sent = send(world);
    world.runtime.exitAgent(ID, 1);
    await expect(sent).rejects.toMatchObject({ code: "not_running" });
    expect(world.deps.messages.queued(ID)).toEqual([]);
  });

  test("when it could not look; then nothing is written", async () => {
    const world = await aRestingWorld();
    const before = world.row(ID);
    world.runtime.failNext("look", new AoError("runtime_unavailable", "tmux: timed out"));
    await expect(send(world)).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(world.row(ID)).toEqual(before);
    expect(await world.deps.inbox.pending()).toHaveLength(1);
    expect(world.deps.messages.lastNumber(ID)).toBe(0);
  });
});
