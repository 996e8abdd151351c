import { describe, expect, test } from "vitest";
import {
  type MemoryTranscriptFiles,
  memoryTranscriptFiles,
} from "../../../../src/adapters/memory/memory-transcript-files.ts";
import type { TranscriptMessage } from "../../../../src/domain/transcript/message.ts";
import { type TranscriptRef, transcriptPaths } from "../../../../src/domain/transcript/names.ts";
import { encode } from "../../../../src/lifecycle/transcript/bytes.ts";
import type { TranscriptStore } from "../../../../src/ports/transcript-store.ts";
import { liveSession, loadAll, PATHS, REF, resumed, storeOn, turns } from "../../../support/transcripts.ts";

const OTHER: TranscriptRef = { ...REF, name: "shop-3" };
const OTHER_PATHS = transcriptPaths(OTHER);

const textOf = (files: MemoryTranscriptFiles, path: string) => Buffer.from(files.peek(path) ?? []).toString();

/** A transcript in two saves: two messages, then all the others at once. */
async function saved(
  store: TranscriptStore,
  {
    ref = REF,
    messages = turns(1, 2, 3),
  }: { ref?: TranscriptRef; messages?: readonly TranscriptMessage[] } = {},
) {
  const session = liveSession(store, undefined, ref);
  session.add(...messages.slice(0, 2));
  await session.save();
  session.add(...messages.slice(2));
  await session.save();
}

/** Tears the end of the log, so that its last record is none. */
function tear(files: MemoryTranscriptFiles): void {
  const log = files.peek(PATHS.log) ?? new Uint8Array();
  files.poke(PATHS.log, log.slice(0, log.length - 10));
}

async function torn() {
  const files = memoryTranscriptFiles();
  const store = storeOn(files);
  await saved(store);
  const whole = textOf(files, PATHS.log);
  tear(files);
  return { files, store, whole };
}

/** What the end of a transcript says, by each way to read it. */
async function read(store: TranscriptStore, ref = REF) {
  const streamed = await store.read(ref, async (reader) => {
    const messages: TranscriptMessage[] = [];
    for await (const { message } of reader.messages(0)) messages.push(message);
    return { messages, from: reader.from, lost: reader.lost };
  });
  return { loaded: await store.load(ref), end: await store.end(ref, 100), streamed };
}

describe("a log that lost a save which the checkpoint, by the word of the ledger, still has", () => {
  test("is read from the checkpoint by every reader, and said to be damaged", async () => {
    const { store, files } = await torn();
    const before = textOf(files, PATHS.checkpoint);
    const { loaded, end, streamed } = await read(store);
    expect(loaded).toMatchObject({ from: "checkpoint", messages: turns(1, 2, 3), lost: 0 });
    expect(loaded).toMatchObject({ damage: [{ kind: "torn_tail" }] });
    expect(end).toMatchObject({ messages: turns(1, 2, 3) });
    expect(streamed).toMatchObject({ result: { messages: turns(1, 2, 3), from: "checkpoint" } });
    expect(await store.summary(REF)).toMatchObject({ head: { count: 6 }, health: "damaged" });
    expect(await store.verify(REF)).toMatchObject({
      ...{ health: "damaged", checkpoint: "ahead", ledger: "ahead", lost: 0, head: { count: 6 } },
    });
    expect(textOf(files, PATHS.checkpoint)).toBe(before);
  });

  test("is taken back whole by a repair, which keeps what was left of the log", async () => {
    const { store, files, whole } = await torn();
    const repaired = await store.repair(REF);
    expect(repaired).toMatchObject({ kind: "repaired", head: { count: 6 }, lostMessages: 0 });
    expect(await loadAll(store)).toEqual(turns(1, 2, 3));
    expect(textOf(files, PATHS.salvage)).toContain(whole.slice(0, -10));
    expect(textOf(files, PATHS.checkpoint).trim().split("\n")).toHaveLength(6);
    expect(await store.verify(REF)).toMatchObject({ health: "healthy" });
    expect(await store.repair(REF)).toMatchObject({ kind: "unchanged" });
  });

  test("is taken back by the next save, whose writer read it there", async () => {
    const { store } = await torn();
    const session = await resumed(store);
    session.add(...turns(4));
    expect(await session.save()).toMatchObject({ kind: "saved", head: { count: 8 } });
    expect(await loadAll(store)).toEqual(turns(1, 2, 3, 4));
    expect(await store.verify(REF)).toMatchObject({ health: "healthy", copies: [] });
  });

  test("stays rewound when what it lost was a rewind", async () => {
    const files = memoryTranscriptFiles();
    const store = storeOn(files);
    await saved(store);
    await (await resumed(store)).rewrite(turns(1));
    tear(files);
    expect(await loadAll(store)).toEqual(turns(1));
    await store.repair(REF);
    expect(await loadAll(store)).toEqual(turns(1));
  });

  test("is taken back when all but its first half line is gone", async () => {
    const { files, store } = await torn();
    files.poke(PATHS.log, (files.peek(PATHS.log) ?? new Uint8Array()).slice(0, 30));
    expect(await store.repair(REF)).toMatchObject({ lostMessages: 0, salvagedBytes: 30 });
    expect(await loadAll(store)).toEqual(turns(1, 2, 3));
  });
});

describe("a log that lost a save which no other file has", () => {
  async function lost() {
    const { files, store } = await torn();
    const checkpoint = textOf(files, PATHS.checkpoint).replace("ask 3", "ASK 3");
    files.poke(PATHS.checkpoint, encode(checkpoint));
    return { files, store, checkpoint };
  }

  test("is told of by how many messages are lost", async () => {
    const { store } = await lost();
    const { loaded, streamed } = await read(store);
    expect(loaded).toMatchObject({ from: "log", messages: turns(1), lost: 4 });
    expect(streamed).toMatchObject({ result: { lost: 4 } });
    expect(await store.summary(REF)).toMatchObject({ health: "damaged" });
    expect(await store.verify(REF)).toMatchObject({ health: "damaged", lost: 4 });
  });

  test("is repaired with a note of them; the checkpoint, which may hold them, is in the salvage first", async () => {
    const { files, store, checkpoint } = await lost();
    expect(await store.repair(REF)).toMatchObject({ kind: "repaired", lostMessages: 4 });
    expect((await loadAll(store)).slice(2)).toMatchObject([{ role: "system", source: "ao", missing: 4 }]);
    expect(textOf(files, PATHS.salvage)).toContain(checkpoint);
    expect(await store.verify(REF)).toMatchObject({ health: "healthy", lost: 0 });
  });

  test.each([
    ["adds", turns(9)],
    ["adds nothing", []],
  ])("has a note of them after a save that %s, and the checkpoint in the salvage", async (_what, more) => {
    const { files, store, checkpoint } = await lost();
    const session = await resumed(store);
    session.add(...more);
    expect(await session.save()).toMatchObject({ kind: "saved" });
    expect((await loadAll(store)).slice(2)).toMatchObject([{ missing: 4 }, ...more]);
    expect(textOf(files, PATHS.salvage)).toContain(checkpoint);
  });
});

describe("a checkpoint that is written anew", () => {
  test("is not kept when the log rewound or erased what it holds", async () => {
    const files = memoryTranscriptFiles();
    const store = storeOn(files);
    await saved(store);
    await (await resumed(store)).rewrite(turns(1));
    await (await resumed(store)).compact(turns(2));
    expect(files.peek(PATHS.salvage)).toBeUndefined();
  });
});

describe("a log of another session in the place of this one's", () => {
  async function swapped() {
    const files = memoryTranscriptFiles();
    const store = storeOn(files);
    await saved(store);
    await saved(store, { ref: OTHER, messages: turns(7, 8) });
    files.poke(OTHER_PATHS.log, files.peek(PATHS.log) ?? new Uint8Array());
    return { files, store };
  }

  test("is not taken for it: the checkpoint is read", async () => {
    const { store } = await swapped();
    const { loaded, end, streamed } = await read(store, OTHER);
    expect(loaded).toMatchObject({ from: "checkpoint", messages: turns(7, 8) });
    expect(end).toMatchObject({ messages: turns(7, 8) });
    expect(streamed).toMatchObject({ result: { messages: turns(7, 8) } });
    expect(await store.summary(OTHER)).toMatchObject({ head: { count: 4 }, health: "damaged" });
    expect(await store.verify(OTHER)).toMatchObject({ health: "foreign" });
  });

  test("gets nothing appended", async () => {
    const { files, store } = await swapped();
    const before = textOf(files, OTHER_PATHS.log);
    const session = await resumed(store, OTHER);
    session.add(...turns(9));
    expect(await session.save()).toMatchObject({ kind: "refused", refusal: { reason: "foreign" } });
    expect(textOf(files, OTHER_PATHS.log)).toBe(before);
  });

  test("goes to the salvage in a repair, and the log is made of the checkpoint", async () => {
    const { files, store } = await swapped();
    const foreign = textOf(files, OTHER_PATHS.log);
    expect(await store.repair(OTHER)).toMatchObject({
      ...{ kind: "repaired", lostMessages: 0, salvagedBytes: Buffer.byteLength(foreign) },
    });
    expect(textOf(files, OTHER_PATHS.salvage)).toContain(foreign);
    expect(await loadAll(store, OTHER)).toEqual(turns(7, 8));
    expect(await store.verify(OTHER)).toMatchObject({ health: "healthy" });
    expect(await loadAll(store)).toEqual(turns(1, 2, 3));
  });

  test("without a checkpoint leaves nothing, which a repair says", async () => {
    const { files, store } = await swapped();
    await files.unlink(OTHER_PATHS.checkpoint);
    expect(await store.load(OTHER)).toMatchObject({ kind: "refused", refusal: { reason: "foreign" } });
    expect(await store.repair(OTHER)).toMatchObject({ kind: "repaired", lostMessages: 4 });
    const begun = liveSession(store, undefined, OTHER);
    begun.add(...turns(9));
    expect(await begun.save()).toMatchObject({ kind: "saved" });
  });

  test("behind this one's records is damage, and no part of it", async () => {
    const { files, store } = await swapped();
    files.poke(PATHS.log, encode(textOf(files, PATHS.log) + textOf(files, OTHER_PATHS.log)));
    await saved(store, { ref: { ...REF, name: "shop-4" }, messages: turns(4) });
    const foreign = textOf(files, transcriptPaths({ ...REF, name: "shop-4" }).log);
    files.poke(PATHS.log, encode(textOf(files, PATHS.log) + foreign));
    expect(await loadAll(store)).toEqual(turns(1, 2, 3));
    expect(await store.verify(REF)).toMatchObject({ health: "damaged" });
  });
});

describe("a file beside the log that is of another session", () => {
  async function two() {
    const files = memoryTranscriptFiles();
    const store = storeOn(files);
    await saved(store);
    await saved(store, { ref: OTHER, messages: turns(7, 8, 9) });
    const take = (file: "checkpoint" | "ledger" | "index" | "log") =>
      files.poke(OTHER_PATHS[file], files.peek(PATHS[file]) ?? new Uint8Array());
    return { files, store, take };
  }

  test.each(["checkpoint", "ledger", "index"] as const)(
    "%s: the content is the same, and the next save sets it right",
    async (file) => {
      const { store, take } = await two();
      take(file);
      expect(await loadAll(store, OTHER)).toEqual(turns(7, 8, 9));
      const session = await resumed(store, OTHER);
      session.add(...turns(10));
      expect(await session.save()).toMatchObject({ kind: "saved", warnings: [] });
      expect(await loadAll(store, OTHER)).toEqual(turns(7, 8, 9, 10));
      expect(await store.verify(OTHER)).toMatchObject({ health: "healthy" });
    },
  );

  test("all of them, without a log: nothing is taken for its own, and a repair keeps it aside", async () => {
    const { files, store, take } = await two();
    take("checkpoint");
    take("ledger");
    await files.unlink(OTHER_PATHS.log);
    await files.unlink(OTHER_PATHS.index);
    const refused = { kind: "refused", refusal: { reason: "foreign", path: OTHER_PATHS.checkpoint } };
    expect(await store.load(OTHER)).toEqual(refused);
    expect(await store.summary(OTHER)).toEqual(refused);
    expect(await store.verify(OTHER)).toMatchObject({ health: "foreign", checkpoint: "foreign" });
    const begun = liveSession(store, undefined, OTHER);
    begun.add(...turns(9));
    expect(await begun.save()).toEqual(refused);
    await store.repair(OTHER);
    expect(textOf(files, OTHER_PATHS.salvage)).toContain("ask 1");
    expect(await begun.save()).toMatchObject({ kind: "saved" });
  });

  test("a checkpoint with the log gone, which the ledger disproves, is not taken for its own", async () => {
    const { files, store, take } = await two();
    take("checkpoint");
    await files.unlink(OTHER_PATHS.log);
    expect(await store.verify(OTHER)).toMatchObject({ health: "foreign", checkpoint: "foreign", lost: 6 });
  });
});
