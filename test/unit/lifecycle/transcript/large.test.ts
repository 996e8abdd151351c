import { expect, test } from "vitest";
import { memoryTranscriptFiles } from "../../../../src/adapters/memory/memory-transcript-files.ts";
import {
  type Conversation,
  holdsAll,
  saveConversation,
} from "../../../../src/lifecycle/transcripts/save-conversation.ts";
import type { TranscriptFiles } from "../../../../src/ports/transcript-files.ts";
import type { TranscriptStore } from "../../../../src/ports/transcript-store.ts";
import { sessionId, T0_MS } from "../../../support/builders.ts";
import { aMessage, liveSession, REF, storeOn, turns } from "../../../support/transcripts.ts";

/** Counts the bytes that are read. */
function counting(files: TranscriptFiles) {
  let bytes = 0;
  const counted: TranscriptFiles = {
    ...files,
    async open(path) {
      const file = await files.open(path);
      if (file === undefined) return undefined;
      return {
        ...file,
        async read(offset, maxBytes) {
          const read = await file.read(offset, maxBytes);
          bytes += read.length;
          return read;
        },
      };
    },
  };
  return { files: counted, read: () => bytes };
}

/** The bytes that one more save reads of a transcript of so many messages. */
async function readToAppend(messages: number): Promise<number> {
  const files = memoryTranscriptFiles();
  const session = liveSession(storeOn(files));
  session.add(...Array.from({ length: messages }, (_, at) => aMessage({ text: `${at} ${"x".repeat(500)}` })));
  await session.save();
  session.add(...turns("last"));
  await session.save();
  const counted = counting(files);
  const store = storeOn(counted.files);
  expect(await store.summary(REF)).toMatchObject({ head: { count: messages + 2 } });
  const moved = session.movedTo(store);
  moved.add(...turns("more"));
  expect(await moved.save()).toMatchObject({ kind: "saved" });
  return counted.read();
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

function tell(positions: readonly number[], transcripts: TranscriptStore) {
  return saveConversation({ transcripts }, conversationOf(positions));
}

/** What is told at these places of a conversation. */
function conversationOf(positions: readonly number[]): Conversation {
  return {
    ...{ id: sessionId("shop-1"), ref: REF, isOver: false, conversations: ["talk"], log: async () => [] },
    told: positions.map((position) => ({
      ...{ conversationId: "talk", source: "hook" as const, turnId: null },
      entry: {
        ...{ position, after: position === 1 ? null : position - 1, role: "user", edge: undefined },
        ...{ text: `${position} ${"x".repeat(500)}`, atMs: T0_MS, detail: {} },
      },
    })),
  };
}

/** The bytes that one more entry reads of a conversation of so many. */
async function readToTell(entries: number): Promise<number> {
  const files = memoryTranscriptFiles();
  await tell(upTo(entries), storeOn(files));
  for (const more of [1, 2]) await tell([entries + more], storeOn(files));
  const counted = counting(files);
  await tell([entries + 3], storeOn(counted.files));
  expect(await storeOn(files).summary(REF)).toMatchObject({ head: { count: entries + 3 } });
  return counted.read();
}

test("one more entry reads as little of a long conversation as of a short one", async () => {
  const [short, long] = [await readToTell(1000), await readToTell(4000)];
  expect(Math.abs(long - short)).toBeLessThan(100_000);
});

/** The same store, and the most messages of a transcript that it was asked to give at once. */
function countingEnds(store: TranscriptStore) {
  let most = 0;
  const end: TranscriptStore["end"] = (ref, limit) => {
    most = Math.max(most, limit);
    return store.end(ref, limit);
  };
  return { store: { ...store, end }, most: () => most };
}

test("a log that tells all of a long conversation again, and one entry more, is compared without holding the transcript", async () => {
  const files = memoryTranscriptFiles();
  await tell(upTo(2000), storeOn(files));
  await tell([2001], storeOn(files));
  const { store, most } = countingEnds(storeOn(files));
  expect(await holdsAll({ transcripts: store }, conversationOf(upTo(2001)))).toBe(true);
  expect(await holdsAll({ transcripts: store }, conversationOf(upTo(2002)))).toBe(false);
  await tell(upTo(2001), store);
  await tell(upTo(2002), store);
  expect(await store.summary(REF)).toMatchObject({ head: { count: 2002 } });
  expect(most()).toBe(200);
});

test("an append reads as little of a long transcript as of a short one", async () => {
  const short = await readToAppend(100);
  const long = await readToAppend(2000);
  expect(Math.abs(long - short)).toBeLessThan(100);
  expect(long).toBeLessThan(20_000);
});
