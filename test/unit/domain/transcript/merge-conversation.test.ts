import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ConversationEntry } from "../../../../src/domain/transcript/conversation-entry.ts";
import {
  comparison,
  hasGap,
  mergeConversation,
  type ToldEntry,
} from "../../../../src/domain/transcript/merge-conversation.ts";
import type { TranscriptMessage } from "../../../../src/domain/transcript/message.ts";

const CONVERSATIONS = ["old", "new"];

const ROLES = ["user", "tool", "assistant", "system"] as const;
const EDGES = ["start", undefined, undefined, "end"] as const;

/** The entry at a position, from 1: turns of a prompt, a tool, an answer and an end. */
function toldAt(conversationId: string, position: number): ToldEntry {
  const turn = Math.ceil(position / 4);
  const step = (position - 1) % 4;
  const role = ROLES[step] ?? "user";
  const entry: ConversationEntry = {
    ...{ position, after: position === 1 ? null : position - 1, atMs: position, detail: {} },
    ...{ role, text: `${role} ${turn}`, edge: EDGES[step] },
  };
  return { conversationId, entry, source: "hook", turnId: step === 0 ? `${conversationId}-${turn}` : null };
}

/** Three turns in each of two conversations. */
function wholeTalk(): readonly ToldEntry[] {
  const positions = Array.from({ length: 12 }, (_, index) => index + 1);
  return CONVERSATIONS.flatMap((id) => positions.map((position) => toldAt(id, position)));
}

const TALK = wholeTalk();
const FROM_LOG = TALK.map((one) => ({ ...one, source: "agent_log", turnId: null }) as const);

function merge(held: readonly TranscriptMessage[], told: readonly ToldEntry[]) {
  return mergeConversation({ held, told, conversations: CONVERSATIONS });
}

/** What a transcript says, whoever told it first. */
function withoutSource(messages: readonly TranscriptMessage[]) {
  return messages.map(({ source: _source, ...rest }) => rest);
}

const told = (...positions: readonly number[]) =>
  TALK.filter(({ conversationId, entry }) => conversationId === "old" && positions.includes(entry.position));

describe("what is told of a conversation", () => {
  const WHOLE = merge([], TALK);

  test("becomes one message each, in order, with source and turn", () => {
    expect(WHOLE).toHaveLength(TALK.length);
    expect(WHOLE.slice(0, 5)).toMatchObject([
      { role: "user", text: "user 1", turnId: "old-1", source: "hook", conversationId: "old", position: 1 },
      { role: "tool", turnId: "old-1" },
      { role: "assistant", turnId: "old-1" },
      { role: "system", turnId: "old-1", edge: "end" },
      { role: "user", text: "user 2", turnId: "old-2" },
    ]);
  });

  test("gives the same transcript in any order, cut into any saves, however often it is told", () => {
    const batches = fc.array(fc.subarray([...TALK, ...FROM_LOG]), { maxLength: 8 });
    const shuffled = fc.shuffledSubarray([...TALK], { minLength: TALK.length });
    fc.assert(
      fc.property(batches, shuffled, fc.nat(TALK.length), (early, last, cut) => {
        const before = early.reduce(merge, []);
        const after = merge(merge(before, last.slice(0, cut)), last.slice(cut));
        expect(withoutSource(after)).toEqual(withoutSource(WHOLE));
        expect(merge(after, last)).toBe(after);
      }),
    );
  });

  test("keeps what is held as it is while it only goes on", () => {
    fc.assert(
      fc.property(fc.nat(TALK.length), (cut) => {
        const before = merge([], TALK.slice(0, cut));
        const after = merge(before, TALK);
        expect(before.every((message, index) => after[index] === message)).toBe(true);
      }),
    );
  });

  test("is the hook's word where both told it", () => {
    expect(merge([], [...FROM_LOG, ...TALK]).every(({ source }) => source === "hook")).toBe(true);
    const guessed = FROM_LOG.map((one) => ({ ...one, turnId: "guessed" }));
    expect(merge([], [...TALK, ...guessed])).toEqual(WHOLE);
    expect(merge([], [...guessed, ...TALK])).toEqual(WHOLE);
  });

  test("leaves out what nobody has the text of, until the log has it", () => {
    const silent = told(1).map((one) => ({ ...one, entry: { ...one.entry, text: null } }));
    expect(merge([], silent)).toEqual([]);
    expect(merge([], [...silent, ...FROM_LOG.slice(0, 1)])).toMatchObject([
      { text: "user 1", source: "agent_log", turnId: "old-1" },
    ]);
  });

  test("goes before what ao noted behind it, which stays", () => {
    const note: TranscriptMessage = { role: "system", text: "gap", turnId: null, source: "ao", atMs: null };
    const held = [...merge([], told(1)), note];
    expect(merge(held, told(2)).map(({ text }) => text)).toEqual(["user 1", "gap", "tool 1"]);
  });
});

describe("a gap", () => {
  test.each([
    ["nothing between what is held and what is told", [1, 2], [3], false],
    ["the first thing of all", [], [1], false],
    ["what is held already", [1, 2], [1], false],
    ["one thing missing", [1], [3], true],
    ["nothing but the end", [], [4], true],
  ] as const)("is found or not: %s", (_what, held, heard, expected) => {
    expect(hasGap({ held: merge([], told(...held)), told: told(...heard) })).toBe(expected);
  });

  test("is also a text that was too large to be told", () => {
    const silent = told(1).map((one) => ({ ...one, entry: { ...one.entry, text: null } }));
    expect(hasGap({ held: [], told: silent })).toBe(true);
  });
});

test("a comparison, message by message, says of any talk what merging all of it would change", () => {
  const subset = fc.subarray([...TALK, ...FROM_LOG]);
  fc.assert(
    fc.property(subset, subset, (saved, told) => {
      const held = merge([], saved);
      const compared = comparison(told);
      for (const message of held) compared.see(message);
      const { entries, isChanged } = compared.lacking();
      expect(entries.length === 0 && !isChanged).toBe(merge(held, told) === held);
      if (!isChanged) expect(merge(held, entries)).toEqual(merge(held, told));
    }),
  );
});
