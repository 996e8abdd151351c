import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { said } from "../../../../src/adapters/memory/agent.ts";
import { AoError } from "../../../../src/domain/errors.ts";
import type { ConversationEntry } from "../../../../src/domain/transcript/conversation-entry.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { summarizeTranscript } from "../../../../src/lifecycle/transcripts/summarize-transcript.ts";
import { transcriptRef } from "../../../../src/lifecycle/transcripts/transcript-ref.ts";
import { unsavedTranscripts } from "../../../../src/lifecycle/transcripts/unsaved.ts";
import { sessionId, T0_MS } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const FULL = new AoError("data_dir_unusable", "no space left on device");

function entryAt(position: number): ConversationEntry {
  const kinds = [
    { role: "user", edge: "start" },
    { role: "assistant", edge: undefined },
    { role: "system", edge: "end" },
  ] as const;
  const { role, edge } = kinds[(position - 1) % 3] ?? kinds[0];
  const after = position === 1 ? null : position - 1;
  return { position, after, role, edge, text: `${role} ${position}`, atMs: T0_MS + position, detail: {} };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => entryAt(index + 1));

async function aTalkingWorld() {
  const world = aWorld();
  const { metadata } = await world.spawn({ prompt: null });
  const conversationId = metadata.agentSessionId ?? "";
  const hear = (entry: ConversationEntry, overrides: { readonly launchId?: string } = {}) =>
    world.hear(ID, "said", {
      body: said(conversationId, entry),
      atMs: T0_MS + entry.position,
      ...overrides,
    });
  return { world, conversationId, hear };
}

async function messagesOf({ deps, row }: World) {
  const loaded = await deps.transcripts.load(transcriptRef(deps, row(ID)));
  return loaded.kind === "loaded" ? loaded.messages : [];
}

const texts = async (world: World) => (await messagesOf(world)).map(({ text }) => text);
const pendingIn = async (world: World) => (await world.deps.inbox.pending()).length;

/** The same, but that no transcript can be saved. */
function withFullDisk(deps: SessionDeps): SessionDeps {
  const refuse = async () => {
    throw FULL;
  };
  return { ...deps, transcripts: { ...deps.transcripts, saveSnapshot: refuse, saveRewriteCompact: refuse } };
}

describe("what an agent tells", () => {
  test("is in the transcript once, in order, with its source and the turn it belongs to", async () => {
    const { world, hear } = await aTalkingWorld();
    for (const entry of upTo(6)) await hear(entry);
    await observeSessions(world.deps);
    const messages = await messagesOf(world);
    expect(messages.map(({ text, source }) => [text, source])).toEqual(
      upTo(6).map(({ text }) => [text, "hook"]),
    );
    const [second, first] = world.deps.turns.ofSession(ID, 9).turns.map(({ turnId }) => turnId);
    expect(messages.map(({ turnId }) => turnId)).toEqual([first, first, first, second, second, second]);
    expect(await pendingIn(world)).toBe(0);
  });

  test("is saved once when its events were not removed, or come again", async () => {
    const { world, hear } = await aTalkingWorld();
    for (const entry of upTo(3)) await hear(entry);
    const inbox = { ...world.deps.inbox, remove: async () => undefined };
    await observeSessions({ ...world.deps, inbox });
    const saved = await messagesOf(world);
    await observeSessions(world.deps);
    for (const entry of upTo(3)) await hear(entry);
    await observeSessions(world.deps);
    expect(await messagesOf(world)).toEqual(saved);
    expect(await pendingIn(world)).toBe(0);
  });

  test("is the same transcript however it is cut into saves, and in whatever order it comes", async () => {
    const order = fc.shuffledSubarray(upTo(6), { minLength: 6 });
    await fc.assert(
      fc.asyncProperty(order, fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), async (all, cuts) => {
        const { world, hear } = await aTalkingWorld();
        for (const [index, entry] of all.entries()) {
          await hear(entry);
          if (cuts[index] === true) await observeSessions(world.deps);
        }
        await observeSessions(world.deps);
        expect(await texts(world)).toEqual(upTo(6).map(({ text }) => text));
      }),
      { numRuns: 30 },
    );
  });

  test("counts also when its launch is not the current one any more", async () => {
    const { world, hear } = await aTalkingWorld();
    const { launchId } = world.row(ID).metadata;
    await world.kill(ID);
    await world.restore(ID);
    await hear(entryAt(1), { launchId });
    await observeSessions(world.deps);
    expect(await texts(world)).toEqual(["user 1"]);
    expect(await pendingIn(world)).toBe(0);
  });

  test("is not asked for in a session without news", async () => {
    const { world, hear } = await aTalkingWorld();
    await hear(entryAt(1));
    await observeSessions(world.deps);
    const transcripts = new Proxy(world.deps.transcripts, {
      get: () => {
        throw new Error("a transcript was touched");
      },
    });
    await world.hear(ID, "active");
    await observeSessions({ ...world.deps, transcripts });
    expect(world.row(ID).lifecycle.activity.state).toBe("active");
  });
});

describe("a turn in flight", () => {
  const markerOf = ({ deps, row }: World) => deps.transcripts.turnInFlight(transcriptRef(deps, row(ID)));

  test("is marked from its first word that was saved until its last is", async () => {
    const { world, conversationId, hear } = await aTalkingWorld();
    for (const position of [1, 2, 3, 4]) await hear(entryAt(position));
    await observeSessions(world.deps);
    const [running] = world.deps.turns.ofSession(ID, 1).turns;
    const marked = { id: `${conversationId} 4`, turnId: running?.turnId, startCount: 0, keeps: "said" };
    expect(await markerOf(world)).toMatchObject(marked);
    await hear(entryAt(5));
    await observeSessions(world.deps);
    expect(await markerOf(world)).toMatchObject(marked);
    expect((await summarizeTranscript(world.deps, world.row(ID), []))?.turnInFlight).toMatchObject({
      turnId: running?.turnId,
    });
    await hear(entryAt(6));
    await observeSessions(world.deps);
    expect(await markerOf(world)).toBeNull();
  });

  test("is not written down when its end is known with its beginning", async () => {
    const { world, hear } = await aTalkingWorld();
    for (const entry of upTo(3)) await hear(entry);
    const refuse = async () => {
      throw new Error("a marker was set");
    };
    await observeSessions({ ...world.deps, transcripts: { ...world.deps.transcripts, beginTurn: refuse } });
    expect(await texts(world)).toEqual(upTo(3).map(({ text }) => text));
  });

  test.each(["prepareCommit", "saveSnapshot", "clearTurn"] as const)(
    "whose %s was not done any more is ended by who saves next",
    async (step) => {
      const { world, hear } = await aTalkingWorld();
      await hear(entryAt(1));
      await observeSessions(world.deps);
      for (const position of [2, 3]) await hear(entryAt(position));
      const die = async () => {
        throw new Error("killed");
      };
      await observeSessions({ ...world.deps, transcripts: { ...world.deps.transcripts, [step]: die } });
      expect(await markerOf(world)).not.toBeNull();
      await observeSessions(world.deps);
      expect(await markerOf(world)).toBeNull();
      expect(await texts(world)).toEqual(upTo(3).map(({ text }) => text));
    },
  );

  test("of a session that died is none any more, and all that was told of it stays", async () => {
    const { world, hear } = await aTalkingWorld();
    for (const entry of upTo(5)) await hear(entry);
    await observeSessions(world.deps);
    expect(await markerOf(world)).not.toBeNull();
    await world.kill(ID);
    expect(await markerOf(world)).toBeNull();
    expect(await texts(world)).toEqual(upTo(5).map(({ text }) => text));
  });
});

describe("the agent's own log", () => {
  test("tells what its hooks left out", async () => {
    const { world, conversationId, hear } = await aTalkingWorld();
    world.agent.setLog(conversationId, upTo(6));
    for (const position of [1, 4]) await hear(entryAt(position));
    await observeSessions(world.deps);
    const messages = await messagesOf(world);
    expect(messages.map(({ text }) => text)).toEqual(upTo(6).map(({ text }) => text));
    const sources = messages.map(({ source }) => source);
    expect(sources).toEqual(["hook", "agent_log", "agent_log", "hook", "agent_log", "agent_log"]);
    expect(messages[1]?.turnId).toBe(messages[0]?.turnId);
  });

  test("gives what it alone tells to the turns that were heard of at that time", async () => {
    const { world, conversationId } = await aTalkingWorld();
    const turn = async (from: number) => {
      const now = { atMs: world.clock.nowMs() };
      await world.hear(ID, "submit", { body: `user ${from}`, ...now });
      await world.hear(ID, "ready", now);
      const said = upTo(from + 2).slice(from - 1);
      logged.push(...said.map((entry) => ({ ...entry, atMs: now.atMs + 40 })));
      world.agent.setLog(conversationId, [...logged]);
      world.clock.advance(5000);
    };
    const logged: ConversationEntry[] = [];
    await turn(1);
    await observeSessions(world.deps);
    await turn(4);
    await turn(7);
    await world.kill(ID);
    const ids = world.deps.turns.ofSession(ID, 9).turns.map(({ turnId }) => turnId);
    const [third, second, first] = ids;
    expect((await messagesOf(world)).map(({ turnId, source }) => [turnId, source])).toEqual(
      [first, first, first, second, second, second, third, third, third].map((id) => [id, "agent_log"]),
    );
  });

  test("is read when the session ends, by a kill or by itself", async () => {
    for (const end of ["kill", "exit"] as const) {
      const { world, conversationId, hear } = await aTalkingWorld();
      await hear(entryAt(1));
      await observeSessions(world.deps);
      world.agent.setLog(conversationId, upTo(2));
      if (end === "kill") await world.kill(ID);
      else {
        world.runtime.exitAgent(ID, 0);
        await observeSessions(world.deps);
      }
      expect([end, await texts(world)]).toEqual([end, ["user 1", "assistant 2"]]);
    }
  });

  test("that lost its end takes nothing away", async () => {
    const { world, conversationId, hear } = await aTalkingWorld();
    for (const entry of upTo(3)) await hear(entry);
    await observeSessions(world.deps);
    world.agent.setLog(conversationId, upTo(1));
    await world.kill(ID);
    expect(await texts(world)).toEqual(upTo(3).map(({ text }) => text));
  });
});

describe("a save that fails", () => {
  test("leaves the words in the inbox, says so, stops no other session, and is made good", async () => {
    const { world, hear } = await aTalkingWorld();
    await world.spawn({ issueId: "43" });
    for (const entry of upTo(3)) await hear(entry);
    await world.hear(ID, "ready");
    await world.hear(sessionId("app-2"), "active");
    const { unsaved } = await observeSessions(withFullDisk(world.deps));
    expect(unsaved).toEqual([{ id: ID, cause: FULL.message }]);
    expect(await unsavedTranscripts(world.deps)).toEqual(unsaved);
    expect(world.row(ID).lifecycle.activity.state).toBe("ready");
    expect(world.row(sessionId("app-2")).lifecycle.activity.state).toBe("active");
    expect(await pendingIn(world)).toBe(3);

    await observeSessions(withFullDisk(world.deps));
    expect(await pendingIn(world)).toBe(3);
    await observeSessions(world.deps);
    expect(await unsavedTranscripts(world.deps)).toEqual([]);
    expect(await pendingIn(world)).toBe(0);
    const messages = await messagesOf(world);
    expect(messages.map(({ text }) => text)).toEqual(upTo(3).map(({ text }) => text));
    const [turn] = world.deps.turns.ofSession(ID, 9).turns;
    expect(new Set(messages.map(({ turnId }) => turnId))).toEqual(new Set([turn?.turnId]));
  });

  test("of a session that ended is made good without another event", async () => {
    const { world, conversationId } = await aTalkingWorld();
    world.agent.setLog(conversationId, upTo(2));
    world.runtime.exitAgent(ID, 0);
    await observeSessions(withFullDisk(world.deps));
    expect(await unsavedTranscripts(world.deps)).toHaveLength(1);
    await observeSessions(world.deps);
    expect(await texts(world)).toEqual(["user 1", "assistant 2"]);
    expect(await unsavedTranscripts(world.deps)).toEqual([]);
  });
});
