import { describe, expect, test } from "vitest";
import { memoryLocks } from "../../../../src/adapters/memory/locks.ts";
import {
  type MemoryTranscriptFiles,
  memoryTranscriptFiles,
} from "../../../../src/adapters/memory/memory-transcript-files.ts";
import { encode } from "../../../../src/lifecycle/transcript/bytes.ts";
import { aProcess } from "../../../support/builders.ts";
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

const textOf = (files: MemoryTranscriptFiles, path: string) => Buffer.from(files.peek(path) ?? []).toString();

/** A transcript, each message saved on its own. */
async function saved(messages = turns(1, 2, 3)) {
  const files = memoryTranscriptFiles();
  const store = storeOn(files);
  const session = liveSession(store);
  for (const message of messages) {
    session.add(message);
    await session.save();
  }
  return { files, store, session };
}

/** Every file, as text. */
async function contents(files: MemoryTranscriptFiles): Promise<ReadonlyMap<string, string>> {
  const names = [...(await files.list(REF.folder))].sort();
  return new Map(names.map((name) => [name, textOf(files, `${REF.folder}/${name}`)]));
}

/** Overwrites the first place of a text in the log with another one of the same length. */
function rot(files: MemoryTranscriptFiles, text: string, other: string): void {
  const log = textOf(files, PATHS.log);
  expect(log).toContain(text);
  files.poke(PATHS.log, encode(log.replace(text, other)));
}

const SIDECARS = ["checkpoint", "ledger", "index"] as const;
const DAMAGES: readonly (readonly [string, (text: string) => string | undefined])[] = [
  ["deleted", () => undefined],
  ["emptied", () => ""],
  ["all NUL", (text) => "\0".repeat(text.length)],
  ["half written", (text) => text.slice(0, text.length / 2)],
  ["garbage", () => "garbage\n"],
  ["of an older save", (text) => text.replace(/"revision":\d+/g, '"revision":1')],
];

describe("a file beside the log", () => {
  const rows = SIDECARS.flatMap((file) => DAMAGES.map(([how, damage]) => [file, how, damage] as const));
  test.each(rows)(
    "%s %s: the content is the same, and the next save sets it right",
    async (file, _how, damage) => {
      const { files, store, session } = await saved();
      const text = damage(textOf(files, PATHS[file]));
      if (text === undefined) await files.unlink(PATHS[file]);
      else files.poke(PATHS[file], encode(text));
      const before = await contents(files);
      expect(await loadAll(store)).toEqual(turns(1, 2, 3));
      expect((await store.verify(REF)).health).not.toBe("damaged");
      expect(await contents(files)).toEqual(before);
      session.add(...turns(4));
      expect(await session.save()).toMatchObject({ kind: "saved", warnings: [] });
      expect(await loadAll(store)).toEqual(turns(1, 2, 3, 4));
      expect(await store.verify(REF)).toMatchObject({ health: "healthy", copies: [] });
    },
  );

  test("an index of a newer ao is written anew", async () => {
    const { files, store, session } = await saved();
    files.poke(PATHS.index, encode('{"schemaVersion":99}'));
    session.add(...turns(4));
    expect(await session.save()).toMatchObject({ kind: "saved" });
    expect(await store.verify(REF)).toMatchObject({ health: "healthy" });
  });

  test("an index of the size of another log vouches for nothing", async () => {
    const { files, store } = await saved(turns(1));
    const other = await saved(turns(2));
    files.poke(PATHS.log, other.files.peek(PATHS.log) ?? new Uint8Array());
    const session = await resumed(store);
    session.add(...turns(3));
    expect(await session.save()).toMatchObject({ kind: "saved" });
    expect(await loadAll(store)).toEqual(turns(2, 3));
    expect(await store.verify(REF)).toMatchObject({ health: "healthy" });
  });

  test("a ledger of a newer ao forbids to save, not to read", async () => {
    const { files, store, session } = await saved();
    files.poke(PATHS.ledger, encode('{"schemaVersion":99,"revision":7}'));
    const before = await contents(files);
    session.add(...turns(4));
    const refused = { kind: "refused", refusal: { reason: "newer", path: PATHS.ledger } };
    expect(await session.save()).toEqual(refused);
    expect(await store.repair(REF)).toEqual(refused);
    expect(await loadAll(store)).toEqual(turns(1, 2, 3));
    expect(await store.verify(REF)).toMatchObject({ health: "newer" });
    expect(await contents(files)).toEqual(before);
  });

  test("a ledger that is far ahead takes nothing away, and is told of", async () => {
    const { files, store, session } = await saved();
    const ledger = textOf(files, PATHS.ledger);
    files.poke(
      PATHS.ledger,
      encode(
        ledger.replace(/"digest":"\w{8}/, '"digest":"00000000').replace(/"revision":6/g, '"revision":99'),
      ),
    );
    expect(await loadAll(store)).toEqual(turns(1, 2, 3));
    expect(await store.verify(REF)).toMatchObject({ health: "damaged", ledger: "ahead" });
    session.add(...turns(4));
    expect(await session.save()).toMatchObject({ kind: "saved", head: { revision: 100 } });
    expect(await store.verify(REF)).toMatchObject({ health: "healthy" });
  });

  test("a checkpoint of the right size that says something else is found by verify and set right by repair", async () => {
    const { files, store } = await saved();
    files.poke(PATHS.checkpoint, encode(textOf(files, PATHS.checkpoint).replace("ask 2", "ASK 2")));
    expect(await store.verify(REF)).toMatchObject({ health: "stale", checkpoint: "damaged" });
    expect(await store.repair(REF)).toMatchObject({ kind: "repaired", lostMessages: 0 });
    expect(await store.verify(REF)).toMatchObject({ health: "healthy" });
    expect(await store.repair(REF)).toMatchObject({ kind: "unchanged" });
  });
});

describe("a record that is damaged in the middle", () => {
  test("hides nothing but its own messages, and where they are missing is told", async () => {
    const { files, store } = await saved();
    rot(files, "answer 1", "Answer 1");
    const before = await contents(files);
    const [ask, , ...rest] = turns(1, 2, 3);
    expect(await store.load(REF)).toMatchObject({
      kind: "loaded",
      head: { count: 6, revision: 6 },
      messages: [ask, ...rest],
      gaps: [{ first: 1, count: 1 }],
      damage: [{ kind: "unreadable" }],
    });
    expect(await store.verify(REF)).toMatchObject({
      health: "damaged",
      log: { gaps: [{ first: 1, count: 1 }] },
    });
    expect(await contents(files)).toEqual(before);
  });

  test("does not keep its own writer from going on", async () => {
    const { files, store, session } = await saved();
    rot(files, "answer 1", "Answer 1");
    session.add(...turns(4));
    expect(await session.save()).toMatchObject({ kind: "saved" });
    expect((await loadAll(store)).slice(-2)).toEqual(turns(4));
    expect(await store.copies(REF)).toEqual([]);
  });

  test("is read again from a checkpoint that its digest proves; the old log is in the salvage", async () => {
    const { files, store } = await saved();
    rot(files, "answer 1", "Answer 1");
    const log = textOf(files, PATHS.log);
    expect(await store.repair(REF)).toMatchObject({
      kind: "repaired",
      lostMessages: 0,
      salvagedBytes: log.length,
    });
    expect(await loadAll(store)).toEqual(turns(1, 2, 3));
    expect(textOf(files, PATHS.salvage)).toBe(`${log}\n`);
    expect(await store.verify(REF)).toMatchObject({ health: "healthy" });
    expect(await store.repair(REF)).toMatchObject({ kind: "unchanged" });
  });

  test("leaves a note in its place when nothing proves what it said", async () => {
    const { files, store } = await saved();
    rot(files, "answer 1", "Answer 1");
    await files.unlink(PATHS.checkpoint);
    expect(await store.repair(REF)).toMatchObject({ kind: "repaired", lostMessages: 1 });
    const loaded = await loadAll(store);
    expect(loaded.map(({ source, text }) => (source === "ao" ? "note" : text))).toEqual([
      ...["ask 1", "note", "ask 2", "answer 2", "ask 3", "answer 3"],
    ]);
    expect(textOf(files, PATHS.salvage)).toContain("Answer 1");
    expect(await store.verify(REF)).toMatchObject({ health: "healthy" });
  });

  test("when it was a rewind, what that removed does not come back", async () => {
    const { files, store, session } = await saved();
    await session.rewrite([...turns(1), aMessage({ text: "instead" })]);
    session.add(...turns("later"));
    await session.save();
    rot(files, "instead", "INSTEAD");
    const loaded = await store.load(REF);
    expect(loaded).toMatchObject({ messages: turns("later"), gaps: [{ first: 0, count: 3 }] });
  });

  test("a line that is no record loses nothing", async () => {
    const { files, store } = await saved(turns(1));
    const log = textOf(files, PATHS.log);
    const [first = "", second = ""] = log.split("\n");
    files.poke(PATHS.log, encode(`${first}\nnot a record\n${second}\n`));
    expect(await store.load(REF)).toMatchObject({
      messages: turns(1),
      gaps: [],
      damage: [{ kind: "unreadable" }],
    });
    expect(await store.repair(REF)).toMatchObject({ kind: "repaired", lostMessages: 0 });
    expect(await loadAll(store)).toEqual(turns(1));
  });

  test("a record that comes twice counts once", async () => {
    const { files, store } = await saved(turns(1));
    const log = textOf(files, PATHS.log);
    const [, second = ""] = log.split("\n");
    files.poke(PATHS.log, encode(`${log}${second}\n`));
    expect(await store.load(REF)).toMatchObject({ messages: turns(1), damage: [{ kind: "torn_tail" }] });
  });

  test("keeps a compaction from copying what it cannot read", async () => {
    const { files, store, session } = await saved();
    rot(files, "answer 1", "Answer 1");
    const before = await contents(files);
    expect(await session.compact()).toMatchObject({ kind: "refused", refusal: { reason: "damaged" } });
    expect(await contents(files)).toEqual(before);
    expect(await session.rewrite(turns(1, 2))).toMatchObject({ kind: "saved", head: { count: 4 } });
    expect((await store.verify(REF)).log.gaps).toEqual([{ first: 1, count: 1 }]);
  });
});

describe("the end of a log", () => {
  test("without its line feed is a record all the same, and is sealed before the next one", async () => {
    const { files, store, session } = await saved(turns(1));
    files.poke(PATHS.log, encode(textOf(files, PATHS.log).trimEnd()));
    expect(await loadAll(store)).toEqual(turns(1));
    session.add(...turns(2));
    expect(await session.save()).toMatchObject({ kind: "saved", salvagedBytes: 0 });
    expect(await store.load(REF)).toMatchObject({ messages: turns(1, 2), damage: [] });
  });

  test.each([
    ["half a record", '{"schemaVersion":1,"type":"repl'],
    ["NUL", "\0".repeat(300)],
    ["half a record behind NUL", `${"\0".repeat(64)}nt":1,"messages":[]}`],
  ])("that is all there is, %s of a first save, is salvaged and written over", async (_what, text) => {
    const files = memoryTranscriptFiles();
    await files.makeFolder(REF.folder);
    files.poke(PATHS.log, encode(text));
    const store = storeOn(files);
    expect(await store.load(REF)).toEqual({ kind: "missing", wasCommitted: false });
    const session = liveSession(store);
    session.add(...turns(1));
    expect(await session.save()).toMatchObject({ kind: "saved", salvagedBytes: text.length });
    expect(await loadAll(store)).toEqual(turns(1));
    expect(textOf(files, PATHS.salvage)).toBe(`${text}\n`);
  });

  test("is salvaged once, however often the repair is broken off, and twice when it was torn twice", async () => {
    const { files, store } = await saved(turns(1));
    const whole = textOf(files, PATHS.log);
    for (const torn of ["first", "first", "second"]) {
      files.poke(PATHS.log, encode(`${whole}${torn}`));
      expect(await store.repair(REF)).toMatchObject({ kind: "repaired", salvagedBytes: torn.length });
    }
    expect(textOf(files, PATHS.salvage)).toBe("first\nsecond\n");
  });
});

describe("a log that is not for this ao", () => {
  const NEWER = '{"schemaVersion":2,"type":"log","generation":1}\n';
  const UNKNOWN = '{"schemaVersion":1,"type":"redact"}\n';

  test.each([
    ["of a newer schema", (log: string) => NEWER + log],
    ["with a newer record at its end", (log: string) => log + NEWER],
    ["with a record of a type that is not known", (log: string) => log + UNKNOWN],
  ])("%s is neither read nor written", async (_what, change) => {
    const { files, store, session } = await saved(turns(1));
    files.poke(PATHS.log, encode(change(textOf(files, PATHS.log))));
    const before = await contents(files);
    const refused = { kind: "refused", refusal: { reason: "newer", path: PATHS.log } };
    session.add(...turns(2));
    expect(await store.load(REF)).toEqual(refused);
    expect(await session.save()).toEqual(refused);
    expect(await session.compact()).toEqual(refused);
    expect(await store.repair(REF)).toEqual(refused);
    expect(await store.verify(REF)).toMatchObject({ health: "newer" });
    expect(await contents(files)).toEqual(before);
  });

  test.each(["some text of a person\n", '{"role":"user","content":"hi"}\n', "[1,2]\n"])(
    "a foreign file (%j) is never written; the checkpoint is read instead",
    async (text) => {
      const { files, store, session } = await saved(turns(1));
      files.poke(PATHS.log, encode(text));
      const before = await contents(files);
      session.add(...turns(2));
      expect(await store.load(REF)).toMatchObject({ from: "checkpoint", messages: turns(1) });
      expect(await session.save()).toMatchObject({ kind: "refused", refusal: { reason: "foreign" } });
      expect(await store.verify(REF)).toMatchObject({ health: "foreign" });
      expect(await contents(files)).toEqual(before);
    },
  );
});

describe("a transcript that is larger than a budget", () => {
  test.each([
    ["maxBytes", { maxBytes: 500 }],
    ["maxRecordBytes", { maxRecordBytes: 300 }],
    ["maxRecords", { maxRecords: 5 }],
    ["maxMessages", { maxMessages: 5 }],
  ])("%s is refused, left as it is, and not taken from the checkpoint", async (budget, budgets) => {
    const { files, store } = await saved();
    const before = await contents(files);
    const limit = Object.values(budgets)[0];
    expect(await store.load(REF, budgets)).toEqual({
      kind: "refused",
      refusal: { reason: "over_budget", path: PATHS.log, budget, limit },
    });
    expect(await contents(files)).toEqual(before);
    expect(await loadAll(store)).toEqual(turns(1, 2, 3));
  });

  test("a message that no reader would take is not written", async () => {
    const { files, store, session } = await saved(turns(1));
    const before = await contents(files);
    session.add(aMessage({ text: "ä".repeat(16 * 1024 * 1024) }));
    expect(await session.save()).toMatchObject({
      kind: "refused",
      refusal: { reason: "over_budget", budget: "maxRecordBytes" },
    });
    expect(await contents(files)).toEqual(before);
    expect(await loadAll(store)).toEqual(turns(1));
  });

  test("many messages at once are several records, and one save", async () => {
    const files = memoryTranscriptFiles();
    const store = storeOn(files);
    const session = liveSession(store);
    session.add(...Array.from({ length: 30 }, (_, at) => aMessage({ text: `${at} ${"x".repeat(100_000)}` })));
    expect(await session.save()).toMatchObject({ kind: "saved", head: { count: 30 } });
    expect(textOf(files, PATHS.log).trimEnd().split("\n").length).toBe(10);
    expect(await loadAll(store)).toEqual(session.messages());
    expect(await session.rewrite(session.messages().slice(1))).toMatchObject({
      kind: "saved",
      head: { count: 29 },
    });
    expect(await loadAll(store)).toEqual(session.messages());
  });
});

describe("a transcript that somebody removed", () => {
  test.each([
    ["with its checkpoint", [PATHS.log, PATHS.checkpoint]],
    ["with all its files", [PATHS.log, PATHS.checkpoint, PATHS.ledger, PATHS.index]],
  ])("%s is not made again by who knew it", async (_what, paths) => {
    const { files, session } = await saved(turns(1));
    for (const path of paths) await files.unlink(path);
    const before = await contents(files);
    session.add(...turns(2));
    expect(await session.save()).toEqual({ kind: "externally_removed" });
    expect(await session.rewrite(turns(3))).toEqual({ kind: "externally_removed" });
    expect(await contents(files)).toEqual(before);
  });

  test("is not made again either by who did not, until a repair forgets it", async () => {
    const { files, store } = await saved(turns(1));
    await files.unlink(PATHS.log);
    await files.unlink(PATHS.checkpoint);
    expect(await store.load(REF)).toEqual({ kind: "missing", wasCommitted: true });
    expect(await store.verify(REF)).toMatchObject({ health: "removed" });
    const session = liveSession(store);
    session.add(...turns(2));
    expect(await session.save()).toEqual({ kind: "externally_removed" });
    expect(await store.repair(REF)).toEqual({ kind: "forgotten" });
    expect(await session.save()).toMatchObject({ kind: "saved" });
    expect(await loadAll(store)).toEqual(turns(2));
  });

  test("but for its checkpoint is read from there, and the next save makes a log of it", async () => {
    const { files, store, session } = await saved(turns(1));
    await files.unlink(PATHS.log);
    expect(await store.load(REF)).toMatchObject({ from: "checkpoint", messages: turns(1) });
    expect(await store.summary(REF)).toMatchObject({ kind: "summary", head: { count: 2 } });
    expect(await store.verify(REF)).toMatchObject({ health: "stale" });
    session.add(...turns(2));
    expect(await session.save()).toMatchObject({ kind: "saved" });
    expect(await store.load(REF)).toMatchObject({ from: "log", messages: turns(1, 2) });
  });
});

describe("a transcript that another writes", () => {
  test("is loaded all the same, and who wants to save is told who it is", async () => {
    const { files } = await saved(turns(1));
    const locks = memoryLocks();
    const owner = { process: aProcess(), command: "ao transcript repair shop-1", sinceMs: 1 };
    const store = storeOn(files, { locks, lockWaitMs: 20 });
    const session = await resumed(store);
    session.add(...turns(2));
    locks.holdBy(`transcript ${REF.folder}/${REF.name}`, owner);
    expect(await loadAll(store)).toEqual(turns(1));
    await expect(session.save()).rejects.toMatchObject({
      code: "operation_in_progress",
      details: { holder: owner },
    });
    expect(await loadAll(store)).toEqual(turns(1));
  });
});
