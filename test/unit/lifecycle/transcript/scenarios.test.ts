import { describe, expect, test } from "vitest";
import { memoryTranscriptFiles } from "../../../../src/adapters/memory/memory-transcript-files.ts";
import { copyNames } from "../../../../src/domain/transcript/names.ts";
import { encode } from "../../../../src/lifecycle/transcript/bytes.ts";
import {
  aTurn,
  liveSession,
  loadAll,
  PATHS,
  REF,
  resumed,
  storeOn,
  turns,
} from "../../../support/transcripts.ts";

/** A transcript of some turns, and stores of two writers on it. */
async function aTranscript(...numbers: readonly number[]) {
  const files = memoryTranscriptFiles();
  const a = storeOn(files, { writer: "writer-a" });
  const b = storeOn(files, { writer: "writer-b" });
  const first = liveSession(a);
  for (const number of numbers) {
    first.add(...aTurn(number));
    expect(await first.save()).toMatchObject({ kind: "saved", warnings: [] });
  }
  return { files, a, b };
}

const copiesIn = async (files: ReturnType<typeof memoryTranscriptFiles>) =>
  copyNames(REF, await files.list(REF.folder));

describe("a transcript", () => {
  test("gives back what was saved, twice the same, and a load writes nothing", async () => {
    const { files, a } = await aTranscript(1, 2);
    const before = [...(await files.list(REF.folder))].map((name) => [
      name,
      files.peek(`${REF.folder}/${name}`),
    ]);
    const first = await a.load(REF);
    expect(first).toMatchObject({ kind: "loaded", from: "log", messages: turns(1, 2), gaps: [], damage: [] });
    expect(await a.load(REF)).toEqual(first);
    const after = [...(await files.list(REF.folder))].map((name) => [
      name,
      files.peek(`${REF.folder}/${name}`),
    ]);
    expect(after).toEqual(before);
  });

  test("a torn end is not part of it, and the next save cuts it off into the salvage", async () => {
    const { files, a } = await aTranscript(1, 2);
    const whole = files.peek(PATHS.log) ?? new Uint8Array();
    const torn = '{"schemaVersion":1,"type":"append","messages":[{"role":"u';
    files.poke(PATHS.log, Buffer.concat([whole, encode(torn)]));
    expect(await a.load(REF)).toMatchObject({
      messages: turns(1, 2),
      damage: [{ kind: "torn_tail", offset: whole.length, bytes: torn.length }],
    });
    const writer = await resumed(a);
    writer.add(...aTurn(3));
    expect(await writer.save()).toMatchObject({ kind: "saved", salvagedBytes: torn.length });
    expect(await loadAll(a)).toEqual(turns(1, 2, 3));
    expect(Buffer.from(files.peek(PATHS.salvage) ?? []).toString()).toBe(`${torn}\n`);
    expect(await a.verify(REF)).toMatchObject({ health: "healthy" });
  });

  test("a writer that lags behind and has something else changes nothing, and its own is kept", async () => {
    const { files, a, b } = await aTranscript(1);
    const late = await resumed(a);
    const early = await resumed(b);
    early.add(...aTurn(2));
    await early.save();
    late.add(...aTurn("diverged"));
    const result = await late.save();
    expect(result).toMatchObject({ kind: "conflict", conflict: "diverged", head: early.base() });
    expect(await loadAll(a)).toEqual(turns(1, 2));
    if (result.kind !== "conflict" || result.copy === null) throw new Error("no copy");
    expect(await a.copies(REF)).toEqual([result.copy]);
    expect(await loadAll(a, result.copy)).toEqual(turns(1, "diverged"));
    expect(await copiesIn(files)).toHaveLength(1);
  });

  test("the first plain save makes a log", async () => {
    const { files, a } = await aTranscript();
    expect(await a.save(REF, { base: null, messages: turns(1) })).toMatchObject({
      kind: "saved",
      head: { count: 2, revision: 1 },
    });
    expect(files.peek(PATHS.log)?.length).toBeGreaterThan(0);
    expect(await loadAll(a)).toEqual(turns(1));
  });

  test("the id of a writer proves nothing: one of the same id that lags behind is refused too", async () => {
    const { files, a } = await aTranscript(1);
    const twin = storeOn(files, { writer: "writer-a" });
    const late = await resumed(twin);
    const early = await resumed(a);
    early.add(...aTurn(2));
    await early.save();
    late.add(...aTurn("stale"));
    expect(await late.save()).toMatchObject({ kind: "conflict", conflict: "diverged" });
    expect(await loadAll(a)).toEqual(turns(1, 2));
  });

  test("a compaction of something older changes nothing", async () => {
    const { a, b } = await aTranscript(1);
    const stale = await resumed(a);
    const newer = await resumed(b);
    newer.add(...aTurn(2));
    await newer.save();
    expect(await stale.compact()).toMatchObject({ kind: "conflict", conflict: "stale_prefix", copy: null });
    expect(await loadAll(a)).toEqual(turns(1, 2));
  });

  test("what a rewind removed does not come back with another writer's append, and is kept for that writer", async () => {
    const { a, b } = await aTranscript(1, 2, 3);
    const long = await resumed(a);
    const rewinder = await resumed(b);
    expect(await rewinder.rewrite(turns(1))).toMatchObject({ kind: "saved", head: { count: 2 } });
    long.add(...aTurn(4));
    const result = await long.save();
    expect(result).toMatchObject({ kind: "conflict", conflict: "diverged" });
    expect(await loadAll(a)).toEqual(turns(1));
    if (result.kind !== "conflict" || result.copy === null) throw new Error("no copy");
    expect(await loadAll(a, result.copy)).toEqual(turns(1, 2, 3, 4));
  });

  test("neither does it with a writer that never read what is there", async () => {
    const { a, b } = await aTranscript(1, 2);
    const rewinder = await resumed(b);
    await rewinder.rewrite(turns(1));
    const unaware = liveSession(a);
    unaware.add(...turns(1, 2));
    expect(await unaware.save()).toMatchObject({ kind: "conflict", conflict: "diverged" });
    expect(await loadAll(a)).toEqual(turns(1));
  });

  test("an older turn does not clear the marker of a newer one", async () => {
    const { a } = await aTranscript(1);
    await a.beginTurn(REF, { id: "old", turnId: "turn-2", keeps: "prompt" });
    await a.beginTurn(REF, { id: "new", turnId: "turn-3", keeps: "prompt" });
    expect(await a.clearTurn(REF, "old")).toBe(false);
    expect(await a.prepareCommit(REF, "old", { after: null, messages: [] })).toBe(false);
    expect((await a.verify(REF)).inFlight).toMatchObject({ id: "new", commitDigest: null });
    expect(await a.clearTurn(REF, "new")).toBe(true);
    expect((await a.verify(REF)).inFlight).toBeNull();
  });

  test("the same again is no write and no revision", async () => {
    const { files, a } = await aTranscript(1);
    const again = await resumed(a);
    const before = files.peek(PATHS.ledger);
    expect(await again.save()).toMatchObject({ kind: "unchanged", head: { revision: 1 } });
    expect(await again.rewrite(turns(1))).toMatchObject({ kind: "unchanged", head: { revision: 1 } });
    expect(files.peek(PATHS.ledger)).toBe(before);
  });
});
