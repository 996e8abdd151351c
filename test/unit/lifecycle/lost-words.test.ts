import { describe, expect, test } from "vitest";
import { deriveStatus } from "../../../src/domain/status.ts";
import type { ConversationEntry } from "../../../src/domain/transcript/conversation-entry.ts";
import { lastHeardMs, mayHaveLostWords } from "../../../src/lifecycle/observe/last-heard.ts";
import { listSessions } from "../../../src/lifecycle/observe/list-sessions.ts";
import { observeSessions } from "../../../src/lifecycle/observe/observe-sessions.ts";
import { transcriptRef } from "../../../src/lifecycle/transcripts/transcript-ref.ts";
import type { LoggedActivity } from "../../../src/ports/agent.ts";
import { sessionId } from "../../support/builders.ts";
import { aWorld, type World } from "../../support/world.ts";

const ID = sessionId("app-1");
const ENDED = { state: "ready", turn: { kind: "stopped" } } as const;

const conversationOf = (world: World) => world.row(ID).metadata.agentSessionId ?? "";
const turnsOf = ({ deps }: World) => deps.turns.ofSession(ID, 10).turns.toReversed();
const story = (world: World) =>
  turnsOf(world).map(({ state }) => (state.kind === "settled" ? state.outcome : state.kind));

/** A session whose turn was heard to begin; from then on its hooks are lost. */
async function aMuteWorld(): Promise<World> {
  const world = aWorld();
  await world.spawn({ prompt: null });
  world.clock.advance(1000);
  await world.hear(ID, "submit", { body: "go" });
  await observeSessions(world.deps);
  world.runtime.setLook(ID, {
    runtime: { kind: "alive", lastOutputAtMs: world.clock.nowMs() },
    process: { kind: "alive" },
  });
  return world;
}

/** What its own log comes to say, now. */
function write(world: World, logged: Omit<LoggedActivity, "atMs">): void {
  world.agent.setLoggedActivity(conversationOf(world), { ...logged, atMs: world.clock.nowMs() });
}

async function shown({ deps }: World) {
  const { sessions } = await listSessions(deps, { projectId: null, stored: false });
  return sessions.map(({ lifecycle }) => [deriveStatus(lifecycle), lifecycle.activity.source])[0];
}

async function observed(world: World) {
  await observeSessions(world.deps);
  return [deriveStatus(world.row(ID).lifecycle), world.row(ID).lifecycle.activity.source];
}

describe("a turn whose end no hook told", () => {
  test.each([
    [ENDED, "completed", "idle"],
    [{ state: "idle", turn: { kind: "interrupted" } }, "interrupted", "idle"],
    [{ state: "blocked", turn: { kind: "failed", code: "agent_error", message: "x" } }, "failed", "stuck"],
  ] as const)("%j in the agent's own log settles it as %s", async (logged, outcome, status) => {
    const world = await aMuteWorld();
    world.clock.advance(2000);
    write(world, logged);
    world.clock.advance(5000);
    const listed = await shown(world);
    expect(listed?.[1]).toBe("native");
    expect(await observed(world)).toEqual(listed);
    expect(listed?.[0]).toBe(status);
    expect(story(world)).toEqual([outcome]);
    expect((await observeSessions(world.deps)).changed).toEqual([]);
  });

  test("has the time of its record", async () => {
    const world = await aMuteWorld();
    world.clock.advance(2000);
    const endedAtMs = world.clock.nowMs();
    write(world, ENDED);
    world.clock.advance(60_000);
    await observed(world);
    expect(turnsOf(world)[0]?.state).toMatchObject({ kind: "settled" });
    expect(turnsOf(world)[0]?.updatedAtMs).toBe(endedAtMs);
  });

  test("is left to its hook for a while", async () => {
    const world = await aMuteWorld();
    world.clock.advance(10_000);
    write(world, ENDED);
    world.clock.advance(4999);
    expect(await observed(world)).toEqual(["working", "hook"]);
    world.clock.advance(1);
    expect(await observed(world)).toEqual(["idle", "native"]);
  });

  test("goes on when the log says so, and waits where that says that it asks", async () => {
    const world = await aMuteWorld();
    world.clock.advance(10_000);
    write(world, { state: "waiting_input" });
    world.clock.advance(5000);
    expect(await observed(world)).toEqual(["needs_input", "native"]);
    expect(story(world)).toEqual(["waiting"]);
    write(world, { state: "active" });
    world.clock.advance(5000);
    expect(await observed(world)).toEqual(["working", "native"]);
    expect(story(world)).toEqual(["running"]);
  });

  test("is not ended by what the log said before the last hook", async () => {
    const world = await aMuteWorld();
    write(world, ENDED);
    world.clock.advance(5000);
    expect(await observed(world)).toEqual(["working", "hook"]);
  });

  test("is ended once: its hook that comes late changes nothing, nor the turn that began since", async () => {
    const world = await aMuteWorld();
    world.clock.advance(2000);
    const atMs = world.clock.nowMs() + 3;
    write(world, ENDED);
    world.clock.advance(5000);
    await observed(world);
    world.clock.advance(1000);
    await world.hear(ID, "submit", { body: "two" });
    await observed(world);
    await world.hear(ID, "stop", { atMs });
    expect(await observed(world)).toEqual(["working", "hook"]);
    expect(story(world)).toEqual(["completed", "running"]);
  });

  test("is ended once when its hook comes late, before anything else", async () => {
    const world = await aMuteWorld();
    world.clock.advance(2000);
    const atMs = world.clock.nowMs() + 3;
    write(world, ENDED);
    world.clock.advance(5000);
    await observed(world);
    const before = turnsOf(world);
    await world.hear(ID, "stop", { atMs });
    expect((await observed(world))[0]).toBe("idle");
    expect(turnsOf(world)).toEqual(before);
  });

  test("is in the transcript, its answer from the log", async () => {
    const world = await aMuteWorld();
    world.clock.advance(2000);
    const about = { atMs: world.clock.nowMs(), detail: {} };
    const entries: readonly ConversationEntry[] = [
      { ...about, position: 1, after: null, role: "user", text: "go", edge: "start" },
      { ...about, position: 2, after: 1, role: "assistant", text: "done", edge: undefined },
      { ...about, position: 3, after: 2, role: "system", text: "completed", edge: "end" },
    ];
    world.agent.setLog(conversationOf(world), entries);
    write(world, ENDED);
    world.clock.advance(5000);
    await observed(world);
    const loaded = await world.deps.transcripts.load(transcriptRef(world.deps, world.row(ID)));
    expect(loaded).toMatchObject({ messages: entries.map(({ text }) => ({ text, source: "agent_log" })) });
  });
});

describe("the own log of an agent that was heard", () => {
  test.each([
    ["at work, and still for a while", "active", 5000, true],
    ["that waits, and still for a while", "waiting_input", 5000, true],
    ["at work a moment ago", "active", 4999, false],
    ["at rest", "ready", 60_000, false],
  ] as const)("%s: is it asked?", async (_what, state, stillMs, isAsked) => {
    const world = aWorld();
    await world.spawn({ prompt: null });
    world.clock.advance(1000);
    await world.hear(ID, state);
    await observeSessions(world.deps);
    const nowMs = world.clock.nowMs() + stillMs;
    expect(mayHaveLostWords(new Map(), world.row(ID), nowMs)).toBe(isAsked);
    expect(lastHeardMs(new Map(), world.row(ID))).toBe(world.clock.nowMs());
  });
});
