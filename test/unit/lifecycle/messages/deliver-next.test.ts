import { describe, expect, test } from "vitest";
import { noCheckpoints } from "../../../../src/adapters/memory/checkpoints.ts";
import { AoError } from "../../../../src/domain/errors.ts";
import type { HookEvent } from "../../../../src/domain/facts.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { deliverNext } from "../../../../src/lifecycle/messages/deliver-next.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { workspaceRef } from "../../../../src/lifecycle/session-refs.ts";
import type { Checkpoints } from "../../../../src/ports/checkpoints.ts";
import { launchId } from "../../../support/builders.ts";
import { aDelivery, aMessageIn } from "../../../support/messages.ts";
import type { World } from "../../../support/world.ts";
import { aRestingWorld, ID, queued, stored, story, turnsOf, typed } from "./message-world.ts";

const next = ({ deps }: World) => deliverNext(deps, ID);

describe("a message that its agent takes up", () => {
  test("is delivered, in the turn that it begins", async () => {
    const world = await aRestingWorld();
    const message = await queued(world, "line one\nline two;\t🦉\n");
    expect(await next(world)).toMatchObject({ kind: "tried", message: { state: { kind: "delivered" } } });
    expect(typed(world)).toEqual(["line one\nline two;\t🦉\n"]);
    expect(turnsOf(world)).toMatchObject([
      { messageId: message.id, origin: "user_prompt", state: { kind: "running" }, launchId: "launch-1" },
    ]);
    expect(stored(world, message).state).toMatchObject({
      delivery: { turnId: turnsOf(world)[0]?.turnId, launchId: "launch-1" },
    });
  });

  test.each([
    ["/compact", " /compact"],
    ["!rm -r .", " !rm -r ."],
    ["words /compact", "words /compact"],
    [" /compact", " /compact"],
  ])("comes as words where %j would be a command to it", async (text, given) => {
    const world = await aRestingWorld({ capabilities: { commandMarks: ["/", "!"] } });
    Object.assign(world.agent, { receiptText: (said: string) => said.trim() });
    const message = await queued(world, text);
    await next(world);
    expect(typed(world)).toEqual([given]);
    expect(stored(world, message)).toMatchObject({ text, state: { kind: "delivered" } });
    expect(story(world)).toEqual(["running"]);
  });

  test("is a command to an agent that is there for them", async () => {
    const world = await aRestingWorld();
    await queued(world, "!true");
    await next(world);
    expect(typed(world)).toEqual(["!true"]);
  });

  test("is told of in the change log, step by step and without its text", async () => {
    const world = await aRestingWorld();
    const before = world.deps.changes.last();
    await queued(world, "a secret");
    await next(world);
    const changes = world.deps.changes.after(before, 100);
    expect(changes.map(({ type }) => type).filter((type) => type !== "session.changed")).toEqual([
      "message.queued",
      "turn.submitted",
      "message.delivering",
      "turn.running",
      "message.delivered",
    ]);
    expect(JSON.stringify(changes)).not.toContain("secret");
  });

  test("is on record, with its turn, before the first key is sent", async () => {
    const world = await aRestingWorld();
    const message = await queued(world);
    let seen: unknown[] = [];
    const messenger: SessionDeps["messenger"] = {
      ...world.deps.messenger,
      async send() {
        seen = [stored(world, message).state.kind, ...story(world)];
        return { kind: "typed" };
      },
    };
    await deliverNext({ ...world.deps, messenger }, ID);
    expect(seen).toEqual(["delivering", "submitted"]);
  });

  test("stays in its queue when the files at the start of its turn could not be put on record", async () => {
    const world = await aRestingWorld();
    const message = await queued(world);
    const turns: SessionDeps["turns"] = {
      ...world.deps.turns,
      keepCheckpoint() {
        throw new AoError("store_busy", "locked");
      },
    };
    const checkpoints: Checkpoints = {
      ...world.deps.checkpoints,
      take: async () => ({ ref: "refs/ao/checkpoints/app-1/t", commit: "c".repeat(40) }),
    };
    await expect(deliverNext({ ...world.deps, turns, checkpoints }, ID)).rejects.toMatchObject({
      code: "store_busy",
    });
    expect([stored(world, message).state.kind, turnsOf(world), typed(world)]).toEqual(["queued", [], []]);
    expect(await next(world)).toMatchObject({ kind: "tried", message: { state: { kind: "delivered" } } });
  });

  test("waits for the end of its turn before the next one goes", async () => {
    const world = await aRestingWorld();
    await queued(world, "one");
    await queued(world, "two");
    await next(world);
    expect(await next(world)).toEqual({ kind: "not_ready", why: "its agent is at work" });
    world.clock.advance(1_000);
    await world.hear(ID, "stop");
    expect(await next(world)).toMatchObject({ kind: "tried" });
    expect(typed(world)).toEqual(["one", "two"]);
    expect(story(world)).toEqual(["completed", "running"]);
  });
});

describe("an agent", () => {
  const asking = (world: World, asks: "question" | "permission"): World => {
    const interpret = (event: HookEvent) => {
      const signal = world.agent.interpret(event);
      return signal?.activity === "waiting_input" ? { ...signal, asks } : signal;
    };
    const agents = new Map([[world.agent.name, { ...world.agent, interpret }]]);
    return { ...world, deps: { ...world.deps, agents } };
  };

  test.each([
    ["is at work", "active", "its agent is at work"],
    ["has ended", "exited", "its agent has ended"],
  ])("that %s is not typed to", async (_what, event, why) => {
    const world = await aRestingWorld();
    await queued(world);
    world.clock.advance(1_000);
    await world.hear(ID, event);
    expect(await next(world)).toEqual({ kind: "not_ready", why });
    expect(typed(world)).toEqual([]);
  });

  test("that was not heard from yet is not typed to", async () => {
    const world = await aRestingWorld();
    await world.deps.inbox.remove((await world.deps.inbox.pending()).map(({ id }) => id));
    await queued(world);
    expect(await next(world)).toMatchObject({ kind: "not_ready", why: expect.stringContaining("not begun") });
  });

  test("that asks for permission is not typed to: the text would be the answer", async () => {
    const world = asking(await aRestingWorld(), "permission");
    await queued(world);
    world.clock.advance(1_000);
    await world.hear(ID, "waiting_input");
    const outcome = await next(world);
    expect(outcome).toMatchObject({ kind: "not_ready", why: expect.stringContaining("ao attach app-1") });
    expect(typed(world)).toEqual([]);
  });

  test("that asks a question gets the message as the answer, within its turn", async () => {
    const world = asking(await aRestingWorld(), "question");
    await world.hear(ID, "submit", { body: "begin" });
    world.clock.advance(1_000);
    await world.hear(ID, "waiting_input");
    await queued(world, "yes");
    expect(await next(world)).toMatchObject({
      message: { state: { kind: "delivered", delivery: { turnId: expect.any(String) } } },
    });
    expect(story(world)).toEqual(["running"]);
    expect(turnsOf(world)[0]?.messageId).toBeNull();
  });

  test("that rests after an error gets the next message", async () => {
    const world = await aRestingWorld();
    await world.hear(ID, "submit", { body: "begin" });
    world.clock.advance(1_000);
    await world.hear(ID, "fail", { body: "overloaded" });
    await queued(world);
    expect(await next(world)).toMatchObject({ kind: "tried" });
    expect(story(world)).toEqual(["failed", "running"]);
  });

  test("without hooks gets the message at any time; nobody can say that it arrived", async () => {
    const world = await aRestingWorld({ capabilities: { hooks: false, receipts: false } });
    const [one, two] = [await queued(world, "one"), await queued(world, "two")];
    const startedAtMs = world.clock.nowMs();
    await next(world);
    await next(world);
    expect(typed(world)).toEqual(["one", "two"]);
    for (const message of [one, two]) {
      expect(stored(world, message).state).toMatchObject({ kind: "unconfirmed", delivery: { turnId: null } });
    }
    expect(turnsOf(world)).toEqual([]);
    expect(world.clock.nowMs()).toBe(startedAtMs);
  });

  test("that is gone is not typed to, and the message stays queued", async () => {
    const world = await aRestingWorld();
    const message = await queued(world);
    world.runtime.exitAgent(ID, null, "9");
    await expect(next(world)).rejects.toMatchObject({ code: "not_running" });
    expect(stored(world, message)).toEqual(message);
  });
});

describe("a message that its agent does not confirm", () => {
  test("is unconfirmed after a while, and not sent again", async () => {
    const world = await aRestingWorld();
    world.messenger.setListener(ID, "deaf");
    await queued(world, "one");
    const startedAtMs = world.clock.nowMs();
    expect(await next(world)).toMatchObject({ message: { state: { kind: "unconfirmed" } } });
    expect(world.clock.nowMs() - startedAtMs).toBe(20_000);
    expect(story(world)).toEqual(["submitted"]);
    expect(await next(world)).toEqual({ kind: "none" });
    expect(typed(world)).toEqual(["one"]);
  });

  test("is delivered after all when that is heard later", async () => {
    const world = await aRestingWorld();
    world.messenger.setListener(ID, "deaf");
    const message = await queued(world, "one");
    await next(world);
    await world.hear(ID, "submit", { body: "one" });
    await observeSessions(world.deps);
    expect(stored(world, message).state.kind).toBe("delivered");
    expect(story(world)).toEqual(["running"]);
  });

  test("makes room for the next one, and its turn failed", async () => {
    const world = await aRestingWorld();
    world.messenger.setListener(ID, "deaf");
    await queued(world, "one");
    await next(world);
    world.messenger.setListener(ID, "answers");
    await queued(world, "two");
    await next(world);
    expect(story(world)).toEqual(["failed", "running"]);
    expect(turnsOf(world)[0]?.error?.code).toBe("delivery_unconfirmed");
  });
});

describe("a process that died with a message on its way", () => {
  const left = async (channel: "terminal" | "launch" = "terminal") => {
    const world = await aRestingWorld();
    const delivery = aDelivery({ turnId: null, sinceMs: world.clock.nowMs() });
    world.deps.messages.insert(aMessageIn({ kind: "delivering", delivery }, { channel }));
    return { world, message: aMessageIn({ kind: "delivering", delivery }, { channel }) };
  };

  test("has it settled by the next one as unconfirmed when its receipt is overdue, never sent again", async () => {
    const { world, message } = await left();
    await queued(world, "two");
    expect(await next(world)).toEqual({ kind: "not_ready", why: "an earlier message is on its way" });
    world.clock.advance(20_000);
    expect(await next(world)).toMatchObject({ kind: "tried", message: { text: "two" } });
    expect(stored(world, message).state.kind).toBe("unconfirmed");
    expect(typed(world)).toEqual(["two"]);
  });

  test("has it settled as delivered when the agent told so", async () => {
    const { world, message } = await left();
    await world.hear(ID, "submit", { body: "hello" });
    expect(await next(world)).toEqual({ kind: "none" });
    expect(stored(world, message).state.kind).toBe("delivered");
  });

  test("holds nobody up: what an agent was started with is waited for a minute, then it is unconfirmed", async () => {
    const { world, message } = await left("launch");
    await queued(world, "two");
    expect(await next(world)).toEqual({ kind: "not_ready", why: "an earlier message is on its way" });
    world.clock.advance(60_000);
    expect(await next(world)).toMatchObject({ kind: "tried", message: { text: "two" } });
    expect(stored(world, message).state.kind).toBe("unconfirmed");
  });
});

describe("a terminal that cannot be typed to", () => {
  test("while a person scrolls in it keeps the message queued, without a turn, and gets it then", async () => {
    const world = await aRestingWorld();
    const message = await queued(world);
    world.messenger.setListener(ID, "in_use");
    expect(await next(world)).toMatchObject({ kind: "not_ready", why: expect.stringContaining("copy mode") });
    expect(stored(world, message).state.kind).toBe("queued");
    expect(story(world)).toEqual([]);
    world.messenger.setListener(ID, "answers");
    expect(await next(world)).toMatchObject({ message: { state: { kind: "delivered" } } });
    expect(typed(world)).toEqual(["hello"]);
  });

  test("that refuses input fails the message and its turn", async () => {
    const world = await aRestingWorld();
    world.messenger.setListener(ID, "refuses");
    const message = await queued(world);
    await expect(next(world)).rejects.toMatchObject({ code: "delivery_failed" });
    expect(stored(world, message).state).toMatchObject({
      kind: "failed",
      error: { code: "delivery_failed" },
    });
    expect(turnsOf(world)).toMatchObject([
      { state: { outcome: "failed" }, error: { code: "delivery_failed" } },
    ]);
  });

  test.each(["runtime_unavailable", "not_running"] as const)(
    "for now (%s) keeps the message queued, and a later try delivers it once",
    async (code) => {
      const world = await aRestingWorld();
      const message = await queued(world);
      world.messenger.failNext(new AoError(code, "not now"));
      await expect(next(world)).rejects.toMatchObject({ code });
      expect(stored(world, message).state.kind).toBe("queued");
      expect(await next(world)).toMatchObject({ message: { state: { kind: "delivered" } } });
      expect(typed(world)).toEqual(["hello"]);
      expect(story(world)).toEqual(["failed", "running"]);
    },
  );

  test("for a reason nobody foresaw may have been typed to", async () => {
    const world = await aRestingWorld();
    const message = await queued(world);
    world.messenger.failNext(new Error("what?"));
    await expect(next(world)).rejects.toThrow("what?");
    expect(stored(world, message).state.kind).toBe("delivering");
    world.clock.advance(20_000);
    await next(world);
    expect(stored(world, message).state.kind).toBe("unconfirmed");
    expect(typed(world)).toEqual([]);
  });

  test("fails no turn that an answer only belongs to", async () => {
    const world = await aRestingWorld();
    await world.hear(ID, "submit", { body: "begin" });
    world.clock.advance(1_000);
    await world.hear(ID, "waiting_input");
    world.messenger.setListener(ID, "refuses");
    await queued(world, "yes");
    await expect(next(world)).rejects.toMatchObject({ code: "delivery_failed" });
    expect(story(world)).toEqual(["waiting"]);
  });
});

describe("one process at a time", () => {
  test("delivers for a session", async () => {
    const world = await aRestingWorld();
    await queued(world, "one");
    await queued(world, "two");
    const kinds = await Promise.all([next(world), next(world), next(world)]);
    expect(kinds.map(({ kind }) => kind).sort()).toEqual(["held", "held", "tried"]);
    expect(typed(world)).toEqual(["one"]);
  });

  test("is stopped by a session that was launched anew meanwhile", async () => {
    const world = await aRestingWorld();
    const message = await queued(world);
    await observeSessions(world.deps);
    const checkpoints: Checkpoints = {
      ...noCheckpoints(),
      async take() {
        const row = world.row(ID);
        const metadata = { ...row.metadata, launchId: launchId("launch-2") };
        const lifecycle = { ...row.lifecycle, revision: row.lifecycle.revision + 1 };
        world.deps.store.save({ ...row, metadata, lifecycle }, row.lifecycle.revision);
        return null;
      },
    };
    const outcome = await deliverNext({ ...world.deps, checkpoints }, ID);
    expect(outcome).toMatchObject({ kind: "not_ready" });
    expect(stored(world, message)).toEqual(message);
    expect(typed(world)).toEqual([]);
  });
});

test("the files are kept as they were before the first key", async () => {
  const world = await aRestingWorld();
  await queued(world);
  const taken: string[] = [];
  const checkpoints: Checkpoints = {
    ...noCheckpoints(),
    async take(_workspace, turn, edge) {
      taken.push(`${edge} after ${typed(world).length} messages`);
      return { ref: `refs/${turn}/${edge}`, commit: "c".repeat(40) };
    },
  };
  await deliverNext({ ...world.deps, checkpoints }, ID);
  expect(taken).toEqual(["start after 0 messages"]);
  expect(turnsOf(world)[0]?.checkpoints.start?.commit).toBe("c".repeat(40));
});

describe("the files at the start of a turn", () => {
  const aWorldOfFiles = async () => {
    const world = await aRestingWorld();
    const { snapshots } = world.deps;
    const { workspacePath: path } = world.row(ID).metadata;
    const deps = { ...world.deps, checkpoints: snapshots };
    const refs = async () => (await snapshots.checkpoints("/repo/app", ID)).map(({ ref }) => ref);
    const isNow = async () => {
      const commit = turnsOf(world).at(-1)?.checkpoints.start?.commit ?? "";
      const now = { workspace: workspaceRef(world.row(ID)) };
      return (await snapshots.changes("/repo/app", { since: commit, now }))?.length === 0;
    };
    return {
      world,
      deps,
      refs,
      isNow,
      write: (text: string) => world.snapshots.work.write(path, "a.txt", text),
    };
  };

  test("are those of the try that began it, and nothing is kept of one that did not", async () => {
    const { world, deps, refs, isNow, write } = await aWorldOfFiles();
    await queued(world);
    write("older");
    let taken = 0;
    const checkpoints: Checkpoints = {
      ...deps.checkpoints,
      async take(...asked) {
        taken += 1;
        const start = await deps.checkpoints.take(...asked);
        world.clock.advance(1_000);
        await world.hear(ID, "active");
        return start;
      },
    };
    expect(await deliverNext({ ...deps, checkpoints }, ID)).toMatchObject({ kind: "not_ready" });
    expect(taken).toBe(1);
    expect(await refs()).toEqual([]);
    write("newer");
    world.clock.advance(1_000);
    await world.hear(ID, "stop");
    expect(await deliverNext(deps, ID)).toMatchObject({ kind: "tried" });
    expect(await refs()).toHaveLength(1);
    expect(await isNow()).toBe(true);
  });

  test("are those of now also after a try whose process died", async () => {
    const { world, deps, refs, isNow, write } = await aWorldOfFiles();
    await queued(world);
    write("older");
    let isDead = false;
    const dying: Checkpoints = {
      forget: () => Promise.reject(new Error("dead")),
      async take(...asked) {
        const start = await deps.checkpoints.take(...asked);
        isDead = true;
        return start;
      },
    };
    const transaction: SessionDeps["store"]["transaction"] = (work) => {
      if (isDead) throw new Error("dead");
      return deps.store.transaction(work);
    };
    const store = { ...deps.store, transaction };
    await expect(deliverNext({ ...deps, store, checkpoints: dying }, ID)).rejects.toThrow("dead");
    expect(await refs()).toHaveLength(1);
    write("newer");
    expect(await deliverNext(deps, ID)).toMatchObject({ kind: "tried" });
    expect(await refs()).toHaveLength(1);
    expect(await isNow()).toBe(true);
  });
});
