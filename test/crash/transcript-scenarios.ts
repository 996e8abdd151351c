import { expect } from "vitest";
import type { TranscriptMessage } from "../../src/domain/transcript/message.ts";
import type { TranscriptStore } from "../../src/ports/transcript-store.ts";
import { type Disk, emptyDisk, writeTo } from "../support/faulty-disk.ts";
import { faultyProcess } from "../support/faulty-transcript-files.ts";
import {
  aMessage,
  liveSession,
  PATHS,
  REF,
  resumed,
  type StoreOptions,
  storeOn,
  turns,
} from "../support/transcripts.ts";

/** A change of a transcript that is broken off at each of its boundaries. */
export interface SweepScenario {
  readonly name: string;
  /** The disk before, and what is acknowledged on it. */
  readonly arrange: (
    options?: StoreOptions,
  ) => Promise<{ readonly disk: Disk; readonly before: readonly TranscriptMessage[] }>;
  /** The change, by a writer that has just opened the transcript. */
  readonly act: (store: TranscriptStore) => Promise<unknown>;
  /** What the transcript is after it. */
  readonly after: readonly TranscriptMessage[];
  /** Texts that must be found in the transcript, a copy, or the salvage, whatever happens. */
  readonly keeps: readonly string[];
  /** Whether any part of what is added may be found, or only all or nothing. */
  readonly mayBePart: boolean;
  /** Boundaries, in order, behind which the change is there for good: when the process dies, and the machine. */
  readonly lasting: { readonly written: readonly string[]; readonly durable: readonly string[] };
}

/** A process on a disk that nothing happens to. */
export function soundStore(disk: Disk, options: StoreOptions = {}): TranscriptStore {
  return storeOn(faultyProcess(disk).files, options);
}

async function saved(
  messages: readonly TranscriptMessage[],
  disk = emptyDisk(),
  options: StoreOptions = {},
): Promise<Disk> {
  const session = liveSession(soundStore(disk, options));
  for (const message of messages) {
    session.add(message);
    expect(await session.save()).toMatchObject({ kind: "saved", warnings: [] });
  }
  return disk;
}

/** What another program, or a dying one, left at the end of a file. */
function tear(disk: Disk, path: string, text: string): void {
  const inode = disk.make(path);
  writeTo(inode, new TextEncoder().encode(text));
  disk.fsync(inode);
}

/** Overwrites bytes in the middle of a file. */
export function spoilBytes(disk: Disk, path: string, offset: number, text: string): void {
  const inode = disk.make(path);
  const bytes = inode.bytes.slice();
  bytes.set(new TextEncoder().encode(text), offset);
  disk.truncate(path, 0);
  writeTo(inode, bytes);
  disk.fsync(inode);
}

const APPENDED = { written: ["log.write:after"], durable: ["log.fsync:after"] };
const REPLACED = { written: ["log.rename:after"], durable: ["log.rename:after", "folder.fsync:after"] };
const BASE = turns(1, 2);
const textsOf = (messages: readonly TranscriptMessage[]) => messages.map(({ text }) => text);
const TORN = '{"schemaVersion":1,"type":"append","revision":9,"mess';

/** A log of six messages whose third record is another than it was, and no checkpoint to tell what it said. */
async function damagedInTheMiddle(damage: "lost" | "one letter", options: StoreOptions = {}) {
  const disk = await saved(turns(1, 2, 3), emptyDisk(), options);
  const log = Buffer.from(disk.make(PATHS.log).bytes).toString();
  const third = log.split("\n").slice(0, 2).join("\n").length + 1;
  if (damage === "lost") spoilBytes(disk, PATHS.log, third + 39, "####");
  else spoilBytes(disk, PATHS.log, log.indexOf("ask 2", third), "Ask 2");
  disk.unlink(PATHS.checkpoint);
  disk.fsyncFolder(REF.folder);
  const [one, two, , ...rest] = turns(1, 2, 3);
  if (one === undefined || two === undefined) throw new Error("no messages");
  return { disk, readable: [one, two, ...rest], before: [one, two] };
}

const MISSING_NOTE = aMessage({
  ...{ role: "system", source: "ao", atMs: null, missing: 1 },
  text: "1 message is missing here: the log was damaged, and what was left of it is in the salvage.",
});

async function addTurn(store: TranscriptStore) {
  const session = await resumed(store);
  session.add(...turns("new"));
  return session.save();
}

export const SWEEP_SCENARIOS: readonly SweepScenario[] = [
  {
    name: "the first save",
    keeps: [],
    arrange: async () => ({ disk: emptyDisk(), before: [] }),
    act: addTurn,
    after: turns("new"),
    mayBePart: true,
    // Its name is durable only with its folder.
    lasting: { written: ["log.write:after"], durable: ["log.fsync:after", "folder.fsync:after"] },
  },
  {
    name: "an append",
    keeps: textsOf(BASE),
    arrange: async () => ({ disk: await saved(BASE), before: BASE }),
    act: addTurn,
    after: [...BASE, ...turns("new")],
    mayBePart: true,
    lasting: APPENDED,
  },
  {
    name: "a rewrite",
    keeps: textsOf(turns(1)),
    arrange: async () => ({ disk: await saved(BASE), before: BASE }),
    act: async (store) => (await resumed(store)).rewrite([...turns(1), ...turns("other")]),
    after: [...turns(1), ...turns("other")],
    mayBePart: false,
    lasting: APPENDED,
  },
  {
    name: "a rewind",
    keeps: textsOf(turns(1)),
    arrange: async () => ({ disk: await saved(BASE), before: BASE }),
    act: async (store) => (await resumed(store)).rewrite(turns(1)),
    after: turns(1),
    mayBePart: false,
    lasting: APPENDED,
  },
  {
    name: "a compaction",
    keeps: textsOf(turns(1)),
    arrange: async () => ({ disk: await saved(BASE), before: BASE }),
    act: async (store) => (await resumed(store)).compact([...turns(1), ...turns("other")]),
    after: [...turns(1), ...turns("other")],
    mayBePart: false,
    lasting: REPLACED,
  },
  {
    name: "an append behind a torn end",
    keeps: [...textsOf(BASE), TORN],
    arrange: async () => {
      const disk = await saved(BASE);
      tear(disk, PATHS.log, TORN);
      return { disk, before: BASE };
    },
    act: addTurn,
    after: [...BASE, ...turns("new")],
    mayBePart: true,
    lasting: APPENDED,
  },
  {
    name: "a repair of a torn end",
    keeps: [...textsOf(BASE), TORN],
    arrange: async () => {
      const disk = await saved(BASE);
      tear(disk, PATHS.log, TORN);
      return { disk, before: BASE };
    },
    act: (store) => store.repair(REF),
    after: BASE,
    mayBePart: false,
    lasting: { written: ["log.open:before"], durable: ["log.open:before"] },
  },
  {
    name: "a repair of a record lost in the middle",
    keeps: [...textsOf(turns(1)), "answer 2", "ask 3", "answer 3", "####"],
    arrange: async () => {
      const { disk, readable } = await damagedInTheMiddle("lost");
      return { disk, before: readable };
    },
    act: (store) => store.repair(REF),
    after: [...turns(1), MISSING_NOTE, ...turns(2, 3).slice(1)],
    mayBePart: false,
    lasting: REPLACED,
  },
  {
    name: "a repair of a record with another letter in it",
    keeps: [...textsOf(turns(1)), "answer 2", "ask 3", "answer 3", "Ask 2"],
    arrange: async (options) => {
      const { disk, readable } = await damagedInTheMiddle("one letter", options);
      return { disk, before: readable };
    },
    act: (store) => store.repair(REF),
    after: [...turns(1), MISSING_NOTE, ...turns(2, 3).slice(1)],
    mayBePart: false,
    lasting: REPLACED,
  },
  {
    name: "a save of a transcript that has a checkpoint alone",
    keeps: textsOf(BASE),
    arrange: async () => {
      const disk = await saved(BASE);
      for (const path of [PATHS.log, PATHS.index, PATHS.ledger]) disk.unlink(path);
      disk.fsyncFolder(REF.folder);
      return { disk, before: BASE };
    },
    act: addTurn,
    after: [...BASE, ...turns("new")],
    mayBePart: true,
    lasting: APPENDED,
  },
  {
    name: "the end of a turn whose writer died",
    keeps: textsOf([...BASE, ...turns("new")]),
    arrange: async () => {
      const disk = await saved(BASE);
      const store = soundStore(disk);
      await store.beginTurn(REF, { id: "mark", turnId: "turn-new", keeps: "prompt" });
      await addTurn(store);
      return { disk, before: [...BASE, ...turns("new")] };
    },
    act: (store) => store.resumeTurn(REF),
    after: [...BASE, ...turns("new").slice(0, 1)],
    mayBePart: false,
    lasting: APPENDED,
  },
  {
    name: "a conflict, of which a copy is kept",
    keeps: textsOf(BASE),
    arrange: async () => ({ disk: await saved(BASE), before: BASE }),
    async act(store) {
      const [first] = turns(1);
      const base = { count: 0, digest: "0".repeat(64), revision: 0 };
      if (first === undefined) throw new Error("no message");
      const result = await store.saveSnapshot(REF, { base, messages: [first, ...turns("mine")] });
      expect(result).toMatchObject({ kind: "conflict", conflict: "diverged" });
    },
    after: BASE,
    mayBePart: false,
    lasting: { written: ["log.open:before"], durable: ["log.open:before"] },
  },
];
