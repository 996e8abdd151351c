import { describe, expect, test } from "vitest";
import { memoryTranscriptFiles } from "../../../../src/adapters/memory/memory-transcript-files.ts";
import type { SaveResult } from "../../../../src/ports/transcript-results.ts";
import type { TranscriptStore } from "../../../../src/ports/transcript-store.ts";
import {
  aMessage,
  liveSession,
  loadAll,
  PATHS,
  REF,
  resumed,
  storeOn,
  turns,
} from "../../../support/transcripts.ts";

/** A transcript of three turns, and a store for each writer. */
async function aTranscript() {
  const files = memoryTranscriptFiles();
  const writer = (name: string) => storeOn(files, { writer: name });
  const a = writer("a");
  const first = liveSession(a);
  first.add(...turns(1, 2, 3));
  await first.save();
  return { files, writer, a, b: writer("b") };
}

function copyOf(result: SaveResult) {
  if (result.kind !== "conflict" || result.copy === null) throw new Error(`no copy: ${result.kind}`);
  return result.copy;
}

const textsOf = async (store: TranscriptStore, result: SaveResult) =>
  (await loadAll(store, copyOf(result))).map(({ text }) => text);

describe("a writer that lags behind", () => {
  test("and has nothing of its own adopts the disk: nothing is kept", async () => {
    const { a, b } = await aTranscript();
    const late = await resumed(a);
    const early = await resumed(b);
    early.add(...turns(4));
    await early.save();
    expect(await late.save()).toEqual({
      ...{ kind: "conflict", conflict: "stale_prefix", copy: null },
      head: early.base(),
    });
    expect(await a.copies(REF)).toEqual([]);
  });

  test("and saves a hundred times has one copy that grows in its place", async () => {
    const { files, a, b } = await aTranscript();
    const late = await resumed(a);
    const early = await resumed(b);
    early.add(...turns(4));
    await early.save();
    const mine: string[] = [];
    let last: SaveResult | undefined;
    for (let at = 0; at < 100; at++) {
      mine.push(`mine ${at}`);
      late.add(aMessage({ text: `mine ${at}` }));
      last = await late.save();
      expect(await late.save()).toEqual(last);
    }
    if (last === undefined) throw new Error("nothing was saved");
    expect(await textsOf(a, last)).toEqual([...turns(1, 2, 3).map(({ text }) => text), ...mine]);
    expect(await a.copies(REF)).toEqual([copyOf(last)]);
    expect((await files.list(REF.folder)).filter((name) => name.includes("recovery")).length).toBe(4);
    expect(await loadAll(a)).toEqual(turns(1, 2, 3, 4));
  });

  test("and diverges twice from different places keeps both continuations in one copy", async () => {
    const { a, b } = await aTranscript();
    const early = await resumed(b);
    const first = await resumed(a);
    early.add(...turns(4));
    await early.save();
    first.add(aMessage({ text: "first" }));
    await first.save();
    const second = await resumed(a);
    early.add(...turns(5));
    await early.save();
    second.add(aMessage({ text: "second" }));
    const result = await second.save();
    second.add(aMessage({ text: "and more" }));
    expect(await second.save()).toEqual(result);
    const texts = await textsOf(a, result);
    expect(texts).toContain("first");
    expect(texts.slice(-10)).toEqual([...turns(1, 2, 3, 4).map(({ text }) => text), "second", "and more"]);
    expect(await a.copies(REF)).toHaveLength(1);
  });

  test("has a copy of its own beside those of others, each a transcript of its own", async () => {
    const { writer, a } = await aTranscript();
    const lagging = await Promise.all(["x", "y"].map((name) => resumed(writer(name))));
    const early = await resumed(a);
    early.add(...turns(4));
    await early.save();
    for (const [at, session] of lagging.entries()) {
      session.add(aMessage({ text: `own ${at}` }));
      expect(await session.save()).toMatchObject({ kind: "conflict", conflict: "diverged" });
    }
    const copies = await a.copies(REF);
    expect(copies).toHaveLength(2);
    for (const copy of copies) expect(await a.verify(copy)).toMatchObject({ health: "healthy" });
    expect((await a.verify(REF)).copies).toEqual(copies.map(({ name }) => name));
  });

  test("keeps what it has, with a note, when the log does not hold its base any more", async () => {
    const { a, b } = await aTranscript();
    const late = await resumed(a);
    const early = await resumed(b);
    expect(await early.compact(turns(1))).toMatchObject({ kind: "saved" });
    late.add(aMessage({ text: "mine" }));
    const result = await late.save();
    expect(await textsOf(a, result)).toEqual([
      "What follows came after 6 messages that the log does not hold any more.",
      "mine",
    ]);
    late.add(aMessage({ text: "more" }));
    expect((await textsOf(a, await late.save())).slice(1)).toEqual(["mine", "more"]);
    expect(await loadAll(a)).toEqual(turns(1));
  });

  test("keeps what it would have rewritten, and changes nothing", async () => {
    const { a, b } = await aTranscript();
    const late = await resumed(a);
    const early = await resumed(b);
    early.add(...turns(4));
    await early.save();
    const result = await late.rewrite([...turns(1), aMessage({ text: "instead" })]);
    expect(result).toMatchObject({ kind: "conflict", conflict: "diverged" });
    expect(await textsOf(a, result)).toEqual([...turns(1).map(({ text }) => text), "instead"]);
    expect(await loadAll(a)).toEqual(turns(1, 2, 3, 4));
  });

  test("at the same revision is refused all the same: content decides", async () => {
    const { files, a, b } = await aTranscript();
    const late = await resumed(a);
    const early = await resumed(b);
    const ledger = files.peek(PATHS.ledger) ?? new Uint8Array();
    await early.rewrite(turns(1));
    files.poke(PATHS.ledger, ledger);
    late.add(...turns(4));
    expect(await late.save()).toMatchObject({ kind: "conflict", conflict: "diverged" });
    expect(await loadAll(a)).toEqual(turns(1));
  });
});

describe("a lone writer", () => {
  test("never conflicts with itself, whatever it does, and whatever becomes of the ledger", async () => {
    const { files, a } = await aTranscript();
    const session = await resumed(a);
    const steps = [
      () => session.save(),
      () => session.rewrite(turns(1)),
      () => session.compact(),
      () => session.rewrite([...turns(1), ...turns(9)]),
      () => session.compact(turns(9)),
      () => session.rewrite([]),
      () => session.save(),
    ];
    for (const step of steps) {
      expect((await step()).kind).toMatch(/^(?:saved|unchanged)$/);
      session.add(...turns("next"));
      await files.unlink(PATHS.ledger);
      expect(await session.save()).toMatchObject({ kind: "saved", warnings: [] });
      expect(await loadAll(a)).toEqual(session.messages());
    }
    expect(await a.copies(REF)).toEqual([]);
  });

  test("that repeats a save it was not told the end of finds it done", async () => {
    const { a } = await aTranscript();
    const session = await resumed(a);
    session.add(...turns(4));
    const twin = session.movedTo(a);
    await session.save();
    expect(await twin.save()).toMatchObject({ kind: "unchanged", head: session.base() });
    const again = session.movedTo(a);
    await session.compact(turns(1, 4));
    expect(await again.rewrite(turns(1, 4))).toMatchObject({ kind: "unchanged" });
    expect(await a.copies(REF)).toEqual([]);
  });
});

describe("a compaction", () => {
  test("leaves nothing in the log of what is not in the transcript, also when nothing changes", async () => {
    const { files, a } = await aTranscript();
    const session = await resumed(a);
    await session.rewrite(turns(1));
    const log = () => Buffer.from(files.peek(PATHS.log) ?? []).toString();
    expect(log()).toContain("answer 3");
    expect(await session.compact()).toMatchObject({ kind: "saved", head: { count: 2 } });
    expect(log()).not.toContain("answer 3");
    expect(await a.load(REF)).toMatchObject({ messages: turns(1), damage: [] });
  });

  test("is a lie when it names what is not there, and changes nothing", async () => {
    const { a } = await aTranscript();
    const { base } = { base: (await resumed(a)).base() };
    const keep = { count: 2, digest: "f".repeat(64) };
    const draft = { base, keep, messages: [], reason: "rewind" };
    await expect(a.saveRewrite(REF, draft)).rejects.toMatchObject({ code: "internal" });
    await expect(a.saveRewriteCompact(REF, draft)).rejects.toMatchObject({ code: "internal" });
    expect(await loadAll(a)).toEqual(turns(1, 2, 3));
  });
});
