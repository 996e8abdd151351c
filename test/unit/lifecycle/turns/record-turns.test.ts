import { describe, expect, test } from "vitest";
import { noCheckpoints } from "../../../../src/adapters/memory/checkpoints.ts";
import { AoError } from "../../../../src/domain/errors.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import type { Checkpoints } from "../../../../src/ports/checkpoints.ts";
import { sessionId } from "../../../support/builders.ts";
import { aDelivery, aMessage, aMessageIn } from "../../../support/messages.ts";
import { aSettledTurn, aTurn, aTurnIn, messageId } from "../../../support/turns.ts";
import { aWorld, type World, type WorldOptions } from "../../../support/world.ts";

const ID = sessionId("app-1");

/** A world with a session that was never prompted. */
async function aRestingWorld(options: WorldOptions = {}): Promise<World> {
  const world = aWorld(options);
  await world.spawn({ prompt: null });
  return world;
}

/** Lets events be heard, each a second after the one before, and saves them. */
async function tell(world: World, ...events: readonly (readonly [event: string, body?: string])[]) {
  for (const [event, body = ""] of events) {
    world.clock.advance(1_000);
    await world.hear(ID, event, { body });
  }
  await observeSessions(world.deps);
}

const turnsOf = ({ deps }: World) => deps.turns.ofSession(ID, 10).turns.toReversed();
const story = (world: World) =>
  turnsOf(world).map(({ state }) => (state.kind === "settled" ? state.outcome : state.kind));
const changesOf = ({ deps }: World, prefix: string) =>
  deps.changes.after(0, 1_000).filter(({ type }) => type.startsWith(prefix));

describe("what an agent's hooks tell", () => {
  test("is recorded as turns together with its activity", async () => {
    const world = await aRestingWorld();
    await tell(
      world,
      ["ready"],
      ["submit", "one"],
      ["waiting_input"],
      ["active"],
      ["stop"],
      ["submit", "two"],
    );
    expect(turnsOf(world)).toMatchObject([
      { sequence: 1, launchId: "launch-1", origin: "user_prompt", state: { outcome: "completed" } },
      { sequence: 2, state: { kind: "running" } },
    ]);
    expect(world.row(ID).lifecycle.session.state).toBe("working");
  });

  test("is told in the change log, phase by phase", async () => {
    const world = await aRestingWorld();
    await tell(world, ["submit", "one"], ["waiting_input"], ["fail", "overloaded"]);
    expect(changesOf(world, "turn.").map(({ type }) => type)).toEqual([
      "turn.running",
      "turn.waiting",
      "turn.settled",
    ]);
    expect(changesOf(world, "turn.settled")[0]).toMatchObject({
      sessionId: "app-1",
      data: {
        turnId: turnsOf(world)[0]?.turnId,
        outcome: "failed",
        error: { code: "agent_error", message: "overloaded" },
      },
    });
  });

  test("counts once, however often it is read and by how many", async () => {
    const world = await aRestingWorld();
    await tell(world, ["submit", "one"], ["stop"], ["submit", "two"]);
    await Promise.all([observeSessions(world.deps), observeSessions(world.deps)]);
    expect(story(world)).toEqual(["completed", "running"]);
    expect(changesOf(world, "turn.")).toHaveLength(3);
  });

  test("gives a turn the same name whoever reads it", async () => {
    const [one, other] = [await aRestingWorld(), await aRestingWorld()];
    await tell(one, ["submit", "one"], ["stop"]);
    await tell(other, ["submit", "one"]);
    await tell(other, ["stop"]);
    expect(turnsOf(one)[0]?.turnId).toBe(turnsOf(other)[0]?.turnId);
  });

  test("of an older launch changes no turn", async () => {
    const world = await aRestingWorld();
    await world.hear(ID, "submit", { launchId: "launch-0", body: "one" });
    await observeSessions(world.deps);
    expect(turnsOf(world)).toEqual([]);
  });

  test("of an agent without hooks there is nothing", async () => {
    const world = await aRestingWorld({ capabilities: { hooks: false, receipts: false } });
    await tell(world, ["submit", "one"]);
    expect(turnsOf(world)).toEqual([]);
  });
});

describe("a report that cannot be", () => {
  test("changes neither turn nor session", async () => {
    const world = await aRestingWorld();
    await observeSessions(world.deps);
    const before = world.row(ID);
    await world.hear(ID, "submit", { body: "one" });
    const turns = { ...world.deps.turns, insert: () => false };
    await expect(observeSessions({ ...world.deps, turns })).rejects.toMatchObject({ code: "store_busy" });
    expect(world.row(ID)).toEqual(before);
    await observeSessions(world.deps);
    expect(story(world)).toEqual(["running"]);
  });

  test("for want of readable turns still reaches the session's own row", async () => {
    const world = await aRestingWorld();
    const damaged = () => {
      throw new AoError("store_corrupt", "an unreadable turn");
    };
    await world.hear(ID, "submit", { body: "one" });
    await observeSessions({ ...world.deps, turns: { ...world.deps.turns, live: damaged } });
    expect(world.row(ID).lifecycle.session.state).toBe("working");
  });
});

describe("a message's receipt", () => {
  test("is told as soon as the agent tells the text", async () => {
    const world = await aRestingWorld();
    world.deps.messages.insert(aMessageIn({ kind: "delivering", delivery: aDelivery() }));
    world.deps.turns.insert(aTurnIn({ kind: "submitted" }, { messageId: messageId() }));
    await tell(world, ["submit", "hello\n"]);
    expect(world.deps.messages.get(messageId())?.state).toMatchObject({
      kind: "delivered",
      delivery: { turnId: "turn-1" },
    });
    expect(changesOf(world, "message.")).toMatchObject([
      { type: "message.delivered", data: { messageId: "message-1", turnId: "turn-1" } },
    ]);
    expect(JSON.stringify(changesOf(world, ""))).not.toContain("hello");
  });

  test("is compared the way the agent wants", async () => {
    const world = await aRestingWorld();
    const agent = { ...world.agent, receiptText: (text: string) => text.slice(0, 5) };
    const deps: SessionDeps = { ...world.deps, agents: new Map([["memory", agent]]) };
    deps.messages.insert(aMessageIn({ kind: "delivering", delivery: aDelivery() }, { text: "hello there" }));
    await world.hear(ID, "submit", { body: "hello …" });
    await observeSessions(deps);
    expect(deps.messages.get(messageId())?.state.kind).toBe("delivered");
  });
});

describe("the end of an agent", () => {
  test("leaves its turn interrupted as soon as that is proven", async () => {
    const world = await aRestingWorld();
    await tell(world, ["submit", "one"]);
    world.runtime.loseRuntime(ID);
    await observeSessions(world.deps);
    expect(story(world)).toEqual(["running"]);
    world.clock.advance(120_000);
    await observeSessions(world.deps);
    expect(world.row(ID).lifecycle.session.state).toBe("terminated");
    expect(story(world)).toEqual(["interrupted"]);
  });

  test("does not hide what it told at last", async () => {
    const world = await aRestingWorld();
    await tell(world, ["submit", "one"]);
    world.clock.advance(1_000);
    await world.hear(ID, "stop");
    await world.kill(ID);
    expect(story(world)).toEqual(["completed"]);
    expect(await world.deps.inbox.pending()).toEqual([]);
  });

  test("by a kill is recorded with it", async () => {
    const world = await aRestingWorld();
    await tell(world, ["submit", "one"]);
    await world.kill(ID);
    expect(story(world)).toEqual(["interrupted"]);
    expect(changesOf(world, "turn.").map(({ type }) => type)).toEqual(["turn.running", "turn.settled"]);
  });

  test("by a kill stands though what it told at last cannot be read", async () => {
    const world = await aRestingWorld();
    const inbox = { ...world.deps.inbox, pending: () => Promise.reject(new Error("no")) };
    const options = { reason: "manual", note: null, keepWorktree: false, callerSessionId: null } as const;
    expect(await killSession({ ...world.deps, inbox }, ID, options)).toMatchObject({ workspaceFreed: true });
  });

  test("keeps what waits for a session, lost or ended on purpose, and it is delivered after a restore", async () => {
    const world = await aRestingWorld();
    world.deps.messages.insert(aMessage());
    world.runtime.loseRuntime(ID);
    world.clock.advance(120_000);
    await observeSessions(world.deps);
    expect(world.deps.messages.get(messageId())?.state.kind).toBe("queued");
    await world.restore(ID);
    await world.kill(ID);
    await observeSessions(world.deps);
    expect(world.deps.messages.get(messageId())?.state.kind).toBe("queued");
    await world.restore(ID);
    world.clock.advance(1_000);
    await world.hear(ID, "ready");
    await reconcile(world.deps);
    expect(world.deps.messages.get(messageId())?.state.kind).toBe("delivered");
  });

  test("leaves a turn of the launch before interrupted when the session was restored", async () => {
    const world = await aRestingWorld();
    await tell(world, ["submit", "one"]);
    await world.kill(ID);
    await world.restore(ID);
    await observeSessions(world.deps);
    expect(story(world)).toEqual(["interrupted"]);
  });

  test("of another session concerns nobody else", async () => {
    const world = await aRestingWorld();
    world.deps.turns.insert(aTurn({ sessionId: "app-9" }));
    await observeSessions(world.deps);
    expect(world.deps.turns.live(sessionId("app-9"))).toBeDefined();
  });
});

describe("the files at the ends of a turn", () => {
  const keeper = (log: string[]): Checkpoints => ({
    ...noCheckpoints(),
    async take(workspace, turn, edge) {
      log.push(`${edge} ${workspace.sessionId}`);
      return { ref: `refs/${turn}/${edge}`, commit: "c".repeat(40) };
    },
  });

  test("are kept when it is first known to run, and when it is over", async () => {
    const world = await aRestingWorld();
    const log: string[] = [];
    const checkpoints = keeper(log);
    for (const event of ["submit", "waiting_input", "active", "stop"]) {
      world.clock.advance(1_000);
      await world.hear(ID, event, { body: "one" });
      await observeSessions({ ...world.deps, checkpoints });
    }
    expect(log).toEqual(["start app-1", "end app-1"]);
    const [turn] = turnsOf(world);
    const nowMs = world.clock.nowMs();
    expect(turn?.checkpoints).toEqual({
      start: { ref: `refs/${turn?.turnId}/start`, commit: "c".repeat(40), takenAtMs: nowMs - 3_000 },
      end: { ref: `refs/${turn?.turnId}/end`, commit: "c".repeat(40), takenAtMs: nowMs },
    });
  });

  test.each([
    ["that ended unheard", ["submit", "stop"], "completed"],
    ["that still runs", ["submit"], "interrupted"],
  ])("of one %s are kept by a kill before the worktree goes", async (_which, events, outcome) => {
    const world = await aRestingWorld();
    const log: string[] = [];
    for (const event of events) await world.hear(ID, event, { body: "one" });
    await killSession({ ...world.deps, checkpoints: keeper(log) }, ID, {
      ...{ reason: "manual", note: null, keepWorktree: false, callerSessionId: null },
    });
    expect(log).toContain("end app-1");
    expect(turnsOf(world)).toMatchObject([
      { state: { outcome }, checkpoints: { end: { commit: expect.any(String) } } },
    ]);
  });

  test("that cannot be kept cost nothing else", async () => {
    const world = await aRestingWorld();
    const checkpoints: Checkpoints = { ...noCheckpoints(), take: () => Promise.reject(new Error("no git")) };
    await world.hear(ID, "submit", { body: "one" });
    await observeSessions({ ...world.deps, checkpoints });
    expect(turnsOf(world)).toMatchObject([{ checkpoints: { start: null, end: null } }]);
  });

  /** A turn that ended while git could not be asked. */
  async function unkept(): Promise<World> {
    const world = await aRestingWorld();
    const failing: Checkpoints = { ...noCheckpoints(), take: () => Promise.reject(new Error("no git")) };
    for (const event of ["submit", "stop"]) await world.hear(ID, event, { body: "one" });
    await observeSessions({ ...world.deps, checkpoints: failing });
    expect(turnsOf(world)).toMatchObject([{ checkpoints: { end: null } }]);
    return world;
  }

  test("that could not be kept are kept at a later look, with its time", async () => {
    const world = await unkept();
    world.clock.advance(5_000);
    await observeSessions({ ...world.deps, checkpoints: keeper([]) });
    const takenAtMs = world.clock.nowMs();
    expect(turnsOf(world)).toMatchObject([{ checkpoints: { start: null, end: { takenAtMs } } }]);
  });

  test("are not tried again for ever, nor once another turn has begun", async () => {
    const log: string[] = [];
    const world = await unkept();
    await world.hear(ID, "submit", { body: "two" });
    await observeSessions({ ...world.deps, checkpoints: keeper(log) });
    await observeSessions({ ...world.deps, checkpoints: keeper(log) });
    expect(log).toEqual(["start app-1"]);

    const later = await unkept();
    later.clock.advance(11 * 60_000);
    await observeSessions({ ...later.deps, checkpoints: keeper(log) });
    expect(log).toEqual(["start app-1"]);
  });
});

test("a turn that was settled before stays as it is", async () => {
  const world = await aRestingWorld();
  world.deps.turns.insert(aSettledTurn());
  await tell(world, ["stop"], ["interrupt"]);
  expect(turnsOf(world)).toEqual([aSettledTurn()]);
});
