import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type MemoryTranscriptFiles,
  memoryTranscriptFiles,
} from "../../../../src/adapters/memory/memory-transcript-files.ts";
import { AoError } from "../../../../src/domain/errors.ts";
import { encode } from "../../../../src/lifecycle/transcript/bytes.ts";
import type { TranscriptReader } from "../../../../src/ports/transcript-results.ts";
import { T0_MS } from "../../../support/builders.ts";
import { liveSession, loadAll, PATHS, REF, resumed, storeOn, turns } from "../../../support/transcripts.ts";

async function saved() {
  const files = memoryTranscriptFiles();
  const store = storeOn(files);
  const session = liveSession(store);
  for (const message of turns(1, 2)) {
    session.add(message);
    await session.save();
  }
  return { files, store, session };
}

async function textsFrom(reader: TranscriptReader, first: number): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const { index, message } of reader.messages(first)) texts.push(`${index} ${message.text}`);
  return texts;
}

describe("a reader", () => {
  test.each([
    [0, ["0 ask 1", "1 answer 1", "2 ask 2", "3 answer 2"]],
    [3, ["3 answer 2"]],
    [4, []],
  ])("from %i on gives what is there, with its number", async (first, texts) => {
    const { store } = await saved();
    expect(await store.read(REF, (reader) => textsFrom(reader, first))).toEqual({
      kind: "read",
      result: texts,
    });
  });

  test("of a checkpoint alone gives the same, and of a gap what is beside it", async () => {
    const { files, store } = await saved();
    const log = Buffer.from(files.peek(PATHS.log) ?? []).toString();
    files.poke(PATHS.log, encode(log.replace("answer 1", "Answer 1")));
    const read = () =>
      store.read(REF, async (reader) => [reader.from, reader.gaps, await textsFrom(reader, 1)]);
    expect(await read()).toMatchObject({
      result: ["log", [{ first: 1, count: 1 }], ["2 ask 2", "3 answer 2"]],
    });
    await files.unlink(PATHS.log);
    expect(await read()).toMatchObject({
      result: ["checkpoint", [], ["1 answer 1", "2 ask 2", "3 answer 2"]],
    });
    await files.unlink(PATHS.checkpoint);
    expect(await read()).toEqual({ kind: "missing", wasCommitted: true });
  });

  test("goes on with what it has opened while the log is written anew", async () => {
    const { store, session } = await saved();
    const result = await store.read(REF, async (reader) => {
      await session.compact(turns(9));
      return textsFrom(reader, 2);
    });
    expect(result).toMatchObject({ result: ["2 ask 2", "3 answer 2"] });
    expect(await loadAll(store)).toEqual(turns(9));
  });
});

describe("a summary", () => {
  test("says what is there, when it was saved, and what is known of its health", async () => {
    const { files, store, session } = await saved();
    const summary = { kind: "summary", head: session.base(), savedAtMs: T0_MS };
    expect(await store.summary(REF)).toEqual({ ...summary, health: "healthy" });
    await files.unlink(PATHS.index);
    expect(await store.summary(REF)).toEqual({ ...summary, health: "stale" });
    const log = Buffer.from(files.peek(PATHS.log) ?? []).toString();
    files.poke(PATHS.log, encode(log.replace("answer 1", "Answer 1")));
    expect(await store.summary(REF)).toEqual({ ...summary, health: "damaged" });
    session.add(...turns(3));
    await session.save();
    expect(await store.summary(REF)).toMatchObject({ health: "damaged" });
    await store.repair(REF);
    expect(await store.summary(REF)).toMatchObject({ health: "healthy" });
  });

  test("of nothing is that nothing is there", async () => {
    expect(await storeOn(memoryTranscriptFiles()).summary(REF)).toEqual({
      kind: "missing",
      wasCommitted: false,
    });
  });
});

describe("a pruned transcript", () => {
  const TRASH = { folder: "/data/trash/transcripts", audit: "/data/transcripts/audit.jsonl" };

  const auditOf = (files: MemoryTranscriptFiles): { readonly event: string }[] =>
    Buffer.from(files.peek(TRASH.audit) ?? [])
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  async function withCopy() {
    const made = await saved();
    const late = await resumed(storeOn(made.files, { writer: "late" }));
    made.session.add(...turns(3));
    await made.session.save();
    late.add(...turns("mine"));
    await late.save();
    return made;
  }

  test("is in the trash with all its files, and written down", async () => {
    const { files, store } = await withCopy();
    const before = [...(await files.list(REF.folder))].sort();
    const pruned = await store.prune(REF, TRASH);
    expect([...pruned.files].sort()).toEqual(before);
    expect(await files.list(REF.folder)).toEqual([]);
    expect([...(await files.list(TRASH.folder))].sort()).toEqual(
      before.map((name) => `${name}.${T0_MS}.pruned`),
    );
    const entry = { at: new Date(T0_MS).toISOString(), folder: REF.folder, ...pruned };
    expect(auditOf(files)).toEqual([
      { ...entry, event: "pruning" },
      { ...entry, event: "pruned" },
    ]);
    expect(await store.load(REF)).toEqual({ kind: "missing", wasCommitted: false });
    expect(await store.prune(REF, TRASH)).toEqual({ files: [], bytes: 0 });
  });

  test("is deleted when its time has come, not before, and that is written down too", async () => {
    const { files, store } = await withCopy();
    await store.prune(REF, TRASH);
    expect(await store.emptyTrash(TRASH, T0_MS)).toEqual([]);
    const names = await files.list(TRASH.folder);
    files.poke(`${TRASH.folder}/something else`, new Uint8Array(1));
    expect(await store.emptyTrash(TRASH, T0_MS + 1)).toEqual(names);
    expect(await files.list(TRASH.folder)).toEqual(["something else"]);
    expect(auditOf(files).map(({ event }) => event)).toEqual(["pruning", "pruned", "deleting", "deleted"]);
  });

  test.each(["log", "ledger", "checkpoint"] as const)(
    "stands where it was when its %s cannot be moved",
    async (file) => {
      const { files, store } = await saved();
      const before = [...(await files.list(REF.folder))].sort();
      const stuck = storeOn({
        ...files,
        rename: async (from, to) => {
          if (from === PATHS[file]) throw new AoError("data_dir_unusable", "not permitted");
          await files.rename(from, to);
        },
      });
      const failed = await stuck.prune(REF, TRASH).catch((error: unknown) => error);
      expect(auditOf(files).map(({ event }) => event)).toEqual(["pruning"]);
      expect(failed).toMatchObject({
        code: "data_dir_unusable",
        details: { path: PATHS[file], inTrash: [] },
      });
      expect(String(failed)).toContain(
        `${PATHS[file]} cannot be moved to the trash (not permitted): nothing was pruned`,
      );
      expect([...(await files.list(REF.folder))].sort()).toEqual(before);
      expect(await files.list(TRASH.folder)).toEqual([]);
      expect(await store.verify(REF)).toMatchObject({ health: "healthy" });
    },
  );

  test("is named by what is in the trash when it cannot be put back either", async () => {
    const { files } = await saved();
    const stuck = storeOn({
      ...files,
      rename: async (from, to) => {
        const isBack = from.startsWith(TRASH.folder);
        if (from === PATHS.log || isBack) throw new AoError("data_dir_unusable", "not permitted");
        await files.rename(from, to);
      },
    });
    const failed = await stuck.prune(REF, TRASH).catch((error: unknown) => error);
    const inTrash = (await files.list(TRASH.folder)).map((name) => `${TRASH.folder}/${name}`);
    expect(inTrash).not.toEqual([]);
    expect(failed).toMatchObject({ details: { inTrash: expect.arrayContaining(inTrash) } });
    for (const path of inTrash) expect(String(failed)).toContain(path);
  });

  test("whose pruning was broken off anywhere is whole, or known to be removed, and is pruned by the next", async () => {
    const { files, store } = await withCopy();
    const count = (await files.list(REF.folder)).length;
    const whole = await loadAll(store);
    for (let spared = 0; spared < count; spared++) {
      const { files: own, store: next } = await withCopy();
      let left = spared;
      const failing = storeOn({
        ...own,
        rename: async (from, to) => {
          if (left === 0) throw new Error("broken off");
          left -= 1;
          await own.rename(from, to);
        },
      });
      await expect(failing.prune(REF, TRASH)).rejects.toThrow("broken off");
      const loaded = await next.load(REF);
      if (loaded.kind === "loaded") expect(loaded.messages).toEqual(whole);
      else expect(loaded).toEqual({ kind: "missing", wasCommitted: true });
      await next.prune(REF, TRASH);
      expect(await own.list(REF.folder)).toEqual([]);
    }
  });
});

test("a folder lists its transcripts, also those that are only a part, and no copies", async () => {
  const { files, store } = await saved();
  files.poke(`${REF.folder}/shop-2.jsonl.meta`, encode("{}"));
  files.poke(`${REF.folder}/shop-1-recovery-0123456789abcdef.events.jsonl`, encode(""));
  files.poke(`${REF.folder}/note.txt`, encode(""));
  expect((await store.list(REF.folder)).map(({ name }) => name)).toEqual(["shop-1", "shop-2"]);
  expect(await store.list("/data/transcripts/other")).toEqual([]);
});

interface Step {
  readonly kind: "add" | "rewrite";
  readonly count: number;
}

const aStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("add", "add", "add", "rewrite"),
  count: fc.integer({ min: 0, max: 5 }),
});

/** A transcript that has come about by saves and rewinds. */
async function madeBy(steps: readonly Step[]) {
  const files = memoryTranscriptFiles();
  const store = storeOn(files);
  const session = liveSession(store);
  session.add(...turns("first"));
  await session.save();
  for (const [at, { kind, count }] of steps.entries()) {
    if (kind === "rewrite") await session.rewrite(session.messages().slice(0, count));
    else session.add(...turns(...Array.from({ length: count }, (_, turn) => `${at}.${turn}`)));
    await session.save();
  }
  return { files, store };
}

describe("the end of a transcript", () => {
  test("is what a load has last, after any saves and rewinds, with its index and without", async () => {
    const limits = fc.integer({ min: 0, max: 12 });
    const property = fc.asyncProperty(
      fc.array(aStep),
      limits,
      fc.boolean(),
      async (steps, limit, hasIndex) => {
        const { files, store } = await madeBy(steps);
        if (!hasIndex) await files.unlink(PATHS.index);
        const all = await loadAll(store);
        const first = Math.max(0, all.length - limit);
        const end = { kind: "end", messages: all.slice(first), isWhole: first === 0 };
        expect(await store.end(REF, limit)).toMatchObject({ ...end, head: { count: all.length } });
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  test("says of a damaged log what can be read, and that this is not all", async () => {
    const { files, store } = await saved();
    const log = Buffer.from(files.peek(PATHS.log) ?? []).toString();
    files.poke(PATHS.log, encode(log.replace("answer 1", "Answer 1")));
    const end = await store.end(REF, Number.POSITIVE_INFINITY);
    expect(end).toMatchObject({ kind: "end", isWhole: false, head: { count: 4 } });
    expect(end.kind === "end" && end.messages.map(({ text }) => text)).toEqual([
      "ask 1",
      "ask 2",
      "answer 2",
    ]);
  });
});
