import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTerminal } from "../../../../src/domain/lifecycle.ts";
import { listSessions } from "../../../../src/lifecycle/observe/list-sessions.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const DAY_MS = 24 * 3600 * 1000;
const NO_RECEIPTS = { capabilities: { receipts: false } };

describe("an observation", () => {
  test("saves events and look, then removes the events", async () => {
    const world = aWorld(NO_RECEIPTS);
    await world.spawn();
    await world.spawn({ issueId: "43" });
    await world.hear(ID, "active");
    world.clearLog();
    const { changed, sessions } = await observeSessions(world.deps);
    expect(changed).toEqual([ID]);
    expect(world.log).toEqual([
      "runtime.look app-1 app-2",
      "store.save app-1 working/task_in_progress alive",
    ]);
    expect(sessions).toEqual(world.deps.store.list());
    expect(await world.deps.inbox.pending()).toEqual([]);
  });

  test("writes nothing, and keeps no other writer waiting, when there is no news", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "active");
    await observeSessions(world.deps);
    const before = world.deps.store.list();
    const transaction = () => {
      throw new Error("a transaction for no news");
    };
    const store = { ...world.deps.store, transaction };
    const seen = await observeSessions({ ...world.deps, store });
    expect(seen).toMatchObject({ changed: [], lookFailures: [] });
    expect(world.deps.store.list()).toEqual(before);
  });

  test("that was interrupted before the events were removed finds the same again", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "active");
    await world.hear(ID, "waiting_input");
    const inbox = { ...world.deps.inbox, remove: async () => undefined };
    await observeSessions({ ...world.deps, inbox });
    const first = world.row(ID).lifecycle;
    await observeSessions(world.deps);
    expect(world.row(ID).lifecycle).toEqual(first);
  });

  test("removes what was saved at once, receipts too", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "submit", { body: "hello" });
    await world.hear(ID, "ready");
    await observeSessions(world.deps);
    expect(await world.deps.inbox.pending()).toEqual([]);
    expect((await observeSessions(world.deps)).changed).toEqual([]);
  });

  test("never takes an event for news again: doubt grows under one that could not be removed", async () => {
    const world = aWorld();
    const deps = { ...world.deps, inbox: { ...world.deps.inbox, remove: async () => undefined } };
    await world.spawn();
    await world.hear(ID, "submit", { body: "hello" });
    await world.hear(ID, "active");
    await observeSessions(deps);
    world.runtime.exitAgent(ID, null, "9");
    const doubts = [];
    for (let look = 1; look <= 3; look++) {
      await observeSessions(deps);
      const { session, detecting, revision } = world.row(ID).lifecycle;
      doubts.push([session.state, detecting?.attempts, detecting?.startedAtMs, revision]);
      world.clock.advance(1000);
    }
    const startedAtMs = world.clock.nowMs() - 3000;
    expect(await world.deps.inbox.pending()).toHaveLength(2);
    expect(doubts).toEqual([
      ["detecting", 1, startedAtMs, 4],
      ["detecting", 2, startedAtMs, 5],
      ["stuck", 3, startedAtMs, 6],
    ]);
  });

  test("is one write, one revision and one entry of the change log for all that was learnt", async () => {
    const world = aWorld();
    await world.spawn();
    for (const event of ["active", "waiting_input", "active"]) {
      world.clock.advance(10);
      await world.hear(ID, event);
    }
    world.runtime.exitAgent(ID, null, "9");
    const { revision } = world.row(ID).lifecycle;
    const last = world.deps.changes.last();
    world.clearLog();
    await observeSessions(world.deps);
    expect(world.log).toEqual(["runtime.look app-1", "store.save app-1 detecting/runtime_lost exited"]);
    expect(world.row(ID).lifecycle.revision).toBe(revision + 1);
    expect(world.deps.changes.after(last, 10)).toHaveLength(1);
  });

  test("counts every event of one moment, and each only once", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "active");
    await observeSessions(world.deps);
    await world.hear(ID, "waiting_input");
    await observeSessions(world.deps);
    expect(world.row(ID).lifecycle.session.state).toBe("needs_input");
    await world.hear(ID, "ready");
    await observeSessions(world.deps);
    const before = world.row(ID);
    expect(before.lifecycle.session.state).toBe("idle");
    expect((await observeSessions(world.deps)).changed).toEqual([]);
    expect(world.row(ID)).toEqual(before);
  });

  test("does not keep an event for ever whose time lies far ahead", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "submit", { atMs: world.clock.nowMs() + 1e9 });
    await observeSessions(world.deps);
    expect(await world.deps.inbox.pending()).toEqual([]);
  });

  test("of some sessions leaves the others and their events alone; unknown ids are left out", async () => {
    const world = aWorld(NO_RECEIPTS);
    await world.spawn();
    await world.spawn({ issueId: "43" });
    await world.hear(ID, "active");
    const other = sessionId("app-2");
    await world.hear(other, "active");
    const { sessions } = await observeSessions(world.deps, [other, sessionId("app-7")]);
    expect(sessions.map(({ id }) => id)).toEqual([other]);
    expect((await world.deps.inbox.pending()).map((event) => event.sessionId)).toEqual([ID]);
  });

  test("keeps events of a session that has no row yet", async () => {
    const world = aWorld();
    const event = { sessionId: "app-1", launchId: "launch-1", agent: "memory", event: "active" };
    await world.deps.inbox.put({ ...event, atMs: world.clock.nowMs(), body: "" });
    await observeSessions(world.deps);
    expect(await world.deps.inbox.pending()).toHaveLength(1);
  });

  test("sets them aside a day later", async () => {
    const world = aWorld();
    const event = { launchId: "launch-1", agent: "memory", event: "active", body: "" };
    const now = world.clock.nowMs();
    for (const [index, agoMs] of [DAY_MS, DAY_MS + 1, -DAY_MS - 1].entries()) {
      await world.deps.inbox.put({ ...event, sessionId: `app-${index + 1}`, atMs: now - agoMs });
    }
    await observeSessions(world.deps);
    expect((await world.deps.inbox.pending()).map((kept) => kept.sessionId)).toEqual(["app-1"]);
    expect(await world.deps.inbox.tidy(now)).toBe(2);
  });

  test("keeps old events of a session with a row, though it was not asked for", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "active", { atMs: world.clock.nowMs() - 2 * DAY_MS });
    await observeSessions(world.deps, []);
    expect(await world.deps.inbox.pending()).toHaveLength(1);
  });

  test("sets aside events of an older launch, unless the session may be on its way back", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "active", { launchId: "launch-next" });
    await world.kill(ID);
    await observeSessions(world.deps);
    expect(await world.deps.inbox.pending()).toHaveLength(1);
    await world.restore(ID);
    await observeSessions(world.deps);
    expect(await world.deps.inbox.pending()).toEqual([]);
    expect(await world.deps.inbox.tidy(world.clock.nowMs())).toBe(1);
  });

  test("learns the conversation of an agent that names its own, not of one whose is pinned", async () => {
    const naming = { activity: null, agentSessionId: "conversation-7" };
    for (const pinsSessionId of [true, false]) {
      const world = aWorld({ capabilities: { pinsSessionId } });
      const agent = { ...world.agent, interpret: () => naming };
      const record = await world.spawn();
      await world.hear(ID, "started");
      await observeSessions({ ...world.deps, agents: new Map([[agent.name, agent]]) });
      const expected = pinsSessionId ? record.metadata.agentSessionId : "conversation-7";
      expect(world.row(ID).metadata.agentSessionId).toBe(expected);
    }
  });

  test("that ends a session is the last word of it", async () => {
    const deeds: Record<string, (world: World) => Promise<unknown>> = {
      look: ({ deps }) => observeSessions(deps),
      list: ({ deps }) => listSessions(deps, { projectId: null, stored: false }),
      lose: async ({ runtime }) => runtime.loseRuntime(ID),
    };
    const act = fc.constantFrom(
      "active",
      "ready",
      "waiting_input",
      "blocked",
      "exited",
      "look",
      "list",
      "lose",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
        const world = aWorld();
        await world.spawn();
        let ended = false;
        for (const next of acts) {
          world.clock.advance(30_000);
          await (deeds[next]?.(world) ?? world.hear(ID, next));
          const isOver = isTerminal(world.row(ID).lifecycle);
          expect([ended, isOver]).not.toEqual([true, false]);
          ended = isOver;
        }
      }),
      { numRuns: 50 },
    );
  });
});
