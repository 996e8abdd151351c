import { describe, expect, test } from "vitest";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { T0_MS } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";
import { ID, story, turnsOf } from "./message-world.ts";

function messagesOf({ deps }: World) {
  return deps.messages
    .sent(ID)
    .map(({ number, channel, text, state }) => [number, channel, text, state.kind]);
}

const freshly = (world: World) => restoreSession(world.deps, ID, { fresh: true, settings: world.settings });

describe("the prompt that a session is spawned with", () => {
  test("is its first message, on its way, with the turn that it begins", async () => {
    const world = aWorld();
    await world.spawn();
    expect(messagesOf(world)).toEqual([[1, "launch", "do the thing", "delivering"]]);
    expect(turnsOf(world)).toMatchObject([
      { sequence: 1, origin: "user_prompt", state: { kind: "submitted" }, messageId: expect.any(String) },
    ]);
  });

  test("is confirmed by what the agent told before its row was there", async () => {
    const world = aWorld();
    await world.deps.inbox.put({
      ...{ sessionId: "app-1", launchId: "launch-1", agent: "memory", event: "submit" },
      ...{ body: "do the thing\n\nBe kind.", atMs: T0_MS },
    });
    await world.spawn();
    await observeSessions(world.deps);
    expect(messagesOf(world)).toEqual([]);
    expect(story(world)).toEqual(["running"]);
    const id = turnsOf(world)[0]?.messageId;
    expect(id && world.deps.messages.get(id)?.state.kind).toBe("delivered");
  });

  test("that would be a command to its agent is words to it, and confirmed also with rules behind it", async () => {
    const world = aWorld({ capabilities: { commandMarks: ["/"] } });
    await world.spawn({ prompt: "/do it" });
    expect(await world.files.read("/data/launch/app-1/launch-1/prompt")).toBe(" /do it");
    await world.hear(ID, "submit", { body: " /do it\n\nBe kind." });
    await observeSessions(world.deps);
    expect(messagesOf(world)).toEqual([]);
    expect(story(world)).toEqual(["running"]);
  });

  test("is no message when there is none", async () => {
    const world = aWorld();
    await world.spawn({ prompt: null });
    expect(messagesOf(world)).toEqual([]);
    expect(turnsOf(world)).toEqual([]);
  });

  test("of an agent without receipts is unconfirmed from the start", async () => {
    const world = aWorld({ capabilities: { receipts: false } });
    await world.spawn();
    expect(messagesOf(world)).toEqual([[1, "launch", "do the thing", "unconfirmed"]]);
    await world.hear(ID, "submit");
    await observeSessions(world.deps);
    expect(story(world)).toEqual(["running"]);
  });

  test("of an agent without hooks has no turn", async () => {
    const world = aWorld({ capabilities: { hooks: false, receipts: false } });
    await world.spawn();
    expect(messagesOf(world)).toEqual([[1, "launch", "do the thing", "unconfirmed"]]);
    expect(turnsOf(world)).toEqual([]);
  });

  test("is not there when the spawn failed", async () => {
    const world = aWorld();
    world.failNext("store.insert", new Error("no"));
    await expect(world.spawn()).rejects.toThrow("no");
    expect(world.deps.messages.lastNumber(ID)).toBe(0);
    expect(turnsOf(world)).toEqual([]);
  });
});

describe("a session that is restored", () => {
  test("with its conversation gets no prompt", async () => {
    const world = aWorld();
    await world.spawn();
    await world.kill(ID);
    await world.restore(ID);
    expect(world.deps.messages.lastNumber(ID)).toBe(1);
  });

  test("anew gets its prompt once more, as another message of another turn", async () => {
    const world = aWorld();
    await world.spawn();
    await world.kill(ID);
    world.clock.advance(1_000);
    await freshly(world);
    expect(messagesOf(world)).toEqual([
      [1, "launch", "do the thing", "unconfirmed"],
      [2, "launch", "do the thing", "delivering"],
    ]);
    expect(story(world)).toEqual(["interrupted", "submitted"]);
  });
});
