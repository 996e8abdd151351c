import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import { acceptMessage } from "../../../../src/lifecycle/messages/accept-message.ts";
import { awaitMessage } from "../../../../src/lifecycle/messages/await-message.ts";
import { deliverQueued } from "../../../../src/lifecycle/messages/deliver-queued.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import type { Checkpoints } from "../../../../src/ports/checkpoints.ts";
import type { RuntimeTarget } from "../../../../src/ports/runtime.ts";
import { sessionId } from "../../../support/builders.ts";
import { aDelivery, aMessageIn } from "../../../support/messages.ts";
import type { World } from "../../../support/world.ts";
import { answersEverything, aRestingWorld, ID, queued, stored, story, typed } from "./message-world.ts";

async function sent(world: World, text = "hello", timeoutMs = 1_000) {
  return awaitMessage(world.deps, await queued(world, text), timeoutMs);
}

describe("a message that was accepted", () => {
  test("has the next number of its session", async () => {
    const world = await aRestingWorld();
    expect([await queued(world, "one"), await queued(world, "two")].map(({ number }) => number)).toEqual([
      1, 2,
    ]);
  });

  test("is found again by its request id, and is not another one", async () => {
    const world = await aRestingWorld();
    const message = await queued(world, "hello", "request-1");
    expect(await queued(world, "hello", "request-1")).toEqual(message);
    await expect(queued(world, "other", "request-1")).rejects.toMatchObject({ code: "request_conflict" });
    expect(world.deps.messages.lastNumber(ID)).toBe(1);
  });

  test("is accepted of no session that is over or unknown", async () => {
    const world = await aRestingWorld();
    await world.kill(ID);
    await expect(queued(world)).rejects.toMatchObject({ code: "not_running", hint: "ao restore app-1" });
    const request = { text: "hello", requestId: null };
    await expect(acceptMessage(world.deps, sessionId("app-9"), request)).rejects.toMatchObject({
      code: "session_not_found",
    });
  });
});

describe("a sender", () => {
  test("waits until its agent can take the message", async () => {
    const world = await aRestingWorld();
    await world.hear(ID, "submit", { body: "begin" });
    const awaited = sent(world, "hello", 5_000);
    await world.hear(ID, "stop", { atMs: world.clock.nowMs() + 1 });
    expect(await awaited).toMatchObject({ message: { state: { kind: "delivered" } }, waitsFor: null });
  });

  test("gives a checkpoint no longer than it waits itself, and delivers without one", async () => {
    const world = await aRestingWorld();
    const limits: (number | undefined)[] = [];
    const take: Checkpoints["take"] = async (_workspace, _turnId, _edge, options) => {
      limits.push(options?.withinMs);
      throw new AoError("git_unavailable", "git did not answer");
    };
    const deps = { ...world.deps, checkpoints: { ...world.deps.checkpoints, take } };
    for (const [timeoutMs, limitMs] of [
      [2_000, 2_000],
      [60_000, 5_000],
      [0, 1_000],
    ] as const) {
      const { message } = await awaitMessage(deps, await queued(world), timeoutMs);
      expect(message.state.kind).toBe("delivered");
      expect(limits[0]).toBeLessThanOrEqual(limitMs);
      expect(limits.splice(0)[0]).toBeGreaterThanOrEqual(Math.min(limitMs, 1_000));
      await world.hear(ID, "stop", { atMs: world.clock.nowMs() + 1 });
      await observeSessions(world.deps);
    }
  });

  test("leaves the message queued when its time is over, and knows why", async () => {
    const world = await aRestingWorld();
    await world.hear(ID, "submit", { body: "begin" });
    const startedAtMs = world.clock.nowMs();
    expect(await sent(world)).toMatchObject({
      message: { state: { kind: "queued" } },
      waitsFor: "its agent is at work",
    });
    expect(world.clock.nowMs() - startedAtMs).toBe(1_000);
    expect(typed(world)).toEqual([]);
  });

  test("gives up by the clock, however long a look takes", async () => {
    const world = await aRestingWorld();
    await world.hear(ID, "submit", { body: "begin" });
    const startedAtMs = world.clock.nowMs();
    const look = (targets: readonly RuntimeTarget[]) => {
      world.clock.advance(600);
      return world.runtime.look(targets);
    };
    const deps = { ...world.deps, runtime: { ...world.deps.runtime, look } };
    await awaitMessage(deps, await queued(world), 1_000);
    expect(world.clock.nowMs() - startedAtMs).toBeLessThanOrEqual(1_600);
  });

  test("gives up though the clock jumps back", async () => {
    const world = await aRestingWorld();
    await world.hear(ID, "submit", { body: "begin" });
    let looks = 0;
    const look = (targets: readonly RuntimeTarget[]) => {
      looks += 1;
      if (looks === 2) world.clock.advance(-3_600_000);
      return world.runtime.look(targets);
    };
    const deps = { ...world.deps, runtime: { ...world.deps.runtime, look } };
    await awaitMessage(deps, await queued(world), 1_000);
    expect(looks).toBeLessThan(10);
  });

  test("delivers what was queued before its own message", async () => {
    const world = await aRestingWorld();
    answersEverything(world);
    await queued(world, "one");
    await queued(world, "two");
    expect(await sent(world, "three", 10_000)).toMatchObject({ message: { state: { kind: "delivered" } } });
    expect(typed(world)).toEqual(["one", "two", "three"]);
  });

  test.each([3, 20])(
    "among %i at once has its message arrive once, whole, in the order of the queue",
    async (count) => {
      const world = await aRestingWorld();
      answersEverything(world);
      const texts = Array.from({ length: count }, (_, index) => `message ${index}\nof ${count}`);
      const all = await Promise.all(texts.map((text) => sent(world, text, 600_000)));
      expect(all.map(({ message }) => message.state.kind)).toEqual(texts.map(() => "delivered"));
      const byNumber = all.map(({ message }) => message).sort((one, other) => one.number - other.number);
      expect(typed(world)).toEqual(byNumber.map(({ text }) => text));
      expect(new Set(typed(world)).size).toBe(count);
    },
  );

  test("whose agent is gone has its message cancelled, and is told", async () => {
    const world = await aRestingWorld();
    const message = await queued(world);
    world.runtime.exitAgent(ID, 1);
    await expect(awaitMessage(world.deps, message, 1_000)).rejects.toMatchObject({ code: "not_running" });
    expect(stored(world, message).state.kind).toBe("cancelled");
    expect(world.deps.messages.queued(ID)).toEqual([]);
  });

  test("has patience with a runtime that does not answer, and its message stays queued", async () => {
    const world = await aRestingWorld();
    world.runtime.failNext("look", new AoError("runtime_unavailable", "tmux: timed out"));
    expect(await sent(world)).toMatchObject({ message: { state: { kind: "delivered" } } });
    for (let looks = 0; looks < 20; looks++) {
      world.runtime.failNext("look", new AoError("runtime_unavailable", "tmux: timed out"));
    }
    expect(await sent(world, "again")).toMatchObject({
      message: { state: { kind: "queued" } },
      waitsFor: expect.stringContaining("tmux: timed out"),
    });
  });

  test("is told at once of what will not pass, and its message stays queued", async () => {
    const world = await aRestingWorld();
    const message = await queued(world);
    const broken = new AoError("data_dir_unusable", "the inbox cannot be read");
    let reads = 0;
    const pending = async () => {
      reads += 1;
      throw broken;
    };
    const deps = { ...world.deps, inbox: { ...world.deps.inbox, pending } };
    await expect(awaitMessage(deps, message, 60_000)).rejects.toBe(broken);
    expect(stored(world, message).state.kind).toBe("queued");
    expect(reads).toBe(1);
  });

  test("pauses between tries while the store is busy", async () => {
    const world = await aRestingWorld();
    const message = await queued(world);
    let reads = 0;
    const pending = async () => {
      reads += 1;
      if (reads > 1_000) throw new Error("no pause");
      throw new AoError("store_busy", "the store is busy");
    };
    const deps = { ...world.deps, inbox: { ...world.deps.inbox, pending } };
    expect(await awaitMessage(deps, message, 1_000)).toMatchObject({ waitsFor: "the store is busy" });
    expect(reads).toBeLessThanOrEqual(6);
  });

  test("is told of a failure of its own message alone", async () => {
    const world = await aRestingWorld();
    const other = await queued(world, "one");
    const own = await queued(world, "two");
    world.messenger.failNext(new AoError("message_unsafe", "it holds keys"));
    expect(await awaitMessage(world.deps, own, 1_000)).toMatchObject({
      message: { state: { kind: "delivered" } },
    });
    expect(stored(world, other).state.kind).toBe("failed");
    world.clock.advance(1_000);
    await world.hear(ID, "stop");
    world.messenger.failNext(new AoError("message_unsafe", "it holds keys"));
    await expect(sent(world, "three")).rejects.toMatchObject({ code: "message_unsafe" });
  });
});

describe("a tick", () => {
  const tick = async ({ deps }: World) => {
    await observeSessions(deps);
    return deliverQueued(deps);
  };

  test("delivers what can be delivered now, and waits for nobody", async () => {
    const world = await aRestingWorld();
    const [one, two] = [await queued(world, "one"), await queued(world, "two")];
    const startedAtMs = world.clock.nowMs();
    expect(await tick(world)).toEqual({
      messages: [{ messageId: one.id, sessionId: "app-1", state: "delivered" }],
      errors: [],
    });
    expect(stored(world, two).state.kind).toBe("queued");
    expect(world.clock.nowMs()).toBe(startedAtMs);
    expect(await tick(world)).toEqual({ messages: [], errors: [] });
    expect(story(world)).toEqual(["running"]);
  });

  test("waits for the receipts of several at once and a few seconds alone, and types nothing twice", async () => {
    const world = await aRestingWorld();
    const ids = [ID];
    for (const issueId of ["43", "44", "45"]) {
      const { id } = await world.spawn({ prompt: null, issueId });
      await world.hear(id, "ready");
      ids.push(id);
    }
    for (const id of ids) {
      world.messenger.setListener(id, "deaf");
      await acceptMessage(world.deps, id, { text: "hello", requestId: null });
    }
    const startedAtMs = world.clock.nowMs();
    expect((await tick(world)).messages.map(({ state }) => state)).toEqual(ids.map(() => "delivering"));
    expect(world.clock.nowMs() - startedAtMs).toBeLessThan(5_000);
    world.clock.advance(20_000);
    await tick(world);
    expect(ids.map((id) => world.deps.messages.sent(id).map(({ state }) => state.kind))).toEqual(
      ids.map(() => ["unconfirmed"]),
    );
    expect(typed(world)).toHaveLength(ids.length);
  });

  test("isolates a session whose messages cannot be delivered", async () => {
    const world = await aRestingWorld();
    const second = await world.spawn({ prompt: null, issueId: "43" });
    await world.hear(second.id, "ready");
    await queued(world, "one");
    const other = await acceptMessage(world.deps, second.id, { text: "two", requestId: null });
    world.messenger.setListener(ID, "refuses");
    expect(await tick(world)).toMatchObject({
      messages: [{ messageId: other.id, sessionId: "app-2" }],
      errors: [{ subject: "messages of app-1", code: "delivery_failed" }],
    });
  });

  test("leaves the queue of a session that is over or gone alone, without an error", async () => {
    const world = await aRestingWorld();
    const message = await queued(world);
    world.runtime.exitAgent(ID, 1);
    expect(await tick(world)).toEqual({ messages: [], errors: [] });
    expect(stored(world, message).state.kind).toBe("queued");
  });

  test("does not look again at an agent that was just seen at work", async () => {
    const world = await aRestingWorld();
    await world.hear(ID, "submit", { body: "begin" });
    await queued(world);
    await observeSessions(world.deps);
    world.clearLog();
    expect(await deliverQueued(world.deps)).toEqual({ messages: [], errors: [] });
    expect(world.log).toEqual([]);
  });

  test("settles what a process that died has left on its way", async () => {
    const world = await aRestingWorld();
    const delivery = aDelivery({ turnId: null, sinceMs: world.clock.nowMs() });
    const left = aMessageIn({ kind: "delivering", delivery });
    world.deps.messages.insert(left);
    await tick(world);
    expect(stored(world, left).state.kind).toBe("delivering");
    world.clock.advance(20_000);
    await tick(world);
    expect(stored(world, left).state.kind).toBe("unconfirmed");
  });
});
