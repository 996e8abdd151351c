import { describe, expect, test } from "vitest";
import { parseLedger } from "../../src/domain/transcript/ledger.ts";
import { parseRecordLine } from "../../src/domain/transcript/record.ts";
import type { FileWriter, OpenFile, TranscriptFiles } from "../../src/ports/transcript-files.ts";
import { emptyDisk } from "../support/faulty-disk.ts";
import type { FaultMode } from "../support/faulty-transcript-files.ts";
import { liveSession, loadAll, PATHS, type StoreOptions, sha256, turns } from "../support/transcripts.ts";
import { SWEEP_SCENARIOS, soundStore, spoilBytes } from "./transcript-scenarios.ts";
import { type Plant, sweepTranscript } from "./transcript-sweep.ts";

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** Changes how a file of one path is written. */
function writing(path: string, change: (out: FileWriter) => Partial<FileWriter>) {
  return (files: TranscriptFiles): TranscriptFiles => ({
    ...files,
    async append(of) {
      const out = await files.append(of);
      return of === path ? { ...out, ...change(out) } : out;
    },
  });
}

/** Of the log, and of the checkpoint, which makes good for it. */
const withoutFsync = (files: TranscriptFiles) =>
  [PATHS.log, PATHS.checkpoint].reduce(
    (sofar, path) => writing(path, () => ({ fsync: async () => undefined }))(sofar),
    files,
  );
const withoutSalvage = writing(PATHS.salvage, () => ({ write: async (bytes) => bytes.length }));
const withoutCut = (files: TranscriptFiles): TranscriptFiles => ({
  ...files,
  truncate: async () => undefined,
});
const withoutFolderFsync = (files: TranscriptFiles): TranscriptFiles => ({
  ...files,
  fsyncFolder: async () => undefined,
});

/** A reader that believes the ledger: of the log it sees what the last save on record left. */
function trustingLedger(files: TranscriptFiles): TranscriptFiles {
  async function believed(file: OpenFile): Promise<OpenFile> {
    const ledger = await files.open(PATHS.ledger);
    const parsed = parseLedger(ledger && text(await ledger.read(0, 10_000)), PATHS.owner);
    const digest = parsed.kind === "ledger" ? parsed.ledger.committed?.digest : undefined;
    let end = 0;
    let sizeBytes = 0;
    for (const line of text(await file.read(0, file.sizeBytes)).split("\n")) {
      end += Buffer.byteLength(line) + 1;
      const record = parseRecordLine(sha256, line);
      if (record.kind === "record" && record.record.digest === digest) sizeBytes = end;
    }
    return { ...file, sizeBytes };
  }
  return {
    ...files,
    async open(path) {
      const file = await files.open(path);
      return file !== undefined && path === PATHS.log ? believed(file) : file;
    },
  };
}

const PLANTS: readonly (readonly [string, string, readonly FaultMode[], Plant])[] = [
  ["fsync of the log and the checkpoint removed", "an append", ["power_loss"], { files: withoutFsync }],
  ["fsync of the folder removed", "the first save", ["power_loss"], { files: withoutFolderFsync }],
  ["fsync of the folder removed", "a compaction", ["power_loss"], { files: withoutFolderFsync }],
  ["torn tail not sealed", "an append behind a torn end", ["kill"], { files: withoutCut }],
  ["torn tail not salvaged", "a repair of a torn end", ["kill"], { files: withoutSalvage }],
  ["failed append not cut back", "an append", ["ENOSPC"], { files: withoutCut }],
  [
    "digests not verified",
    "a repair of a record with another letter in it",
    ["kill"],
    { store: { sha256: () => "0".repeat(64) } },
  ],
  ["ledger trusted over the log", "an append", ["kill"], { files: trustingLedger }],
];

describe("the sweep finds a planted fault", () => {
  test.each(PLANTS)("%s, at %s", async (_plant, name, modes, plant) => {
    const scenario = SWEEP_SCENARIOS.find((one) => one.name === name);
    if (scenario === undefined) throw new Error(`no scenario ${name}`);
    await expect(sweepTranscript(scenario, { modes, ...plant })).rejects.toThrow(`${name}: `);
  });
});

/** What is loaded once a letter of a message was turned into another on the disk. */
async function loadedAfterRot(options: StoreOptions) {
  const disk = emptyDisk();
  const session = liveSession(soundStore(disk, options));
  for (const message of turns(1, 2)) {
    session.add(message);
    await session.save();
  }
  const offset = text(disk.make(PATHS.log).bytes).indexOf("answer 1");
  spoilBytes(disk, PATHS.log, offset, "Answer 1");
  return (await loadAll(soundStore(disk, options))).map((message) => message.text);
}

test("a changed letter is never shown, and is when digests are not verified", async () => {
  expect(await loadedAfterRot({})).toEqual(["ask 1", "ask 2", "answer 2"]);
  expect(await loadedAfterRot({ sha256: () => "0".repeat(64) })).toContain("Answer 1");
});
