import { writeSync } from "node:fs";
import { fileLocks } from "../../src/adapters/locks/file-locks.ts";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";
import { sha256 } from "../../src/adapters/transcript-files/sha256.ts";
import { systemTranscriptFiles } from "../../src/adapters/transcript-files/system-transcript-files.ts";
import { transcriptStore } from "../../src/lifecycle/transcript/transcript-store.ts";
import type { FileWriter, TranscriptFiles } from "../../src/ports/transcript-files.ts";
import { liveSession, turns } from "../support/transcripts.ts";

/** A process that changes one transcript on a real disk, and is killed at one of its boundaries. */
const [root = "", what = "", killAt = "0"] = process.argv.slice(2);

let crossed = 0;

/** Says the boundary, and dies there when it is the one; nothing of this process runs any more then. */
async function cross(name: string): Promise<void> {
  crossed += 1;
  writeSync(1, `${name}\n`);
  if (crossed !== Number(killAt)) return;
  process.kill(process.pid, "SIGKILL");
  await new Promise(() => {});
}

async function around<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
  await cross(`${name}:before`);
  const result = await call();
  await cross(`${name}:after`);
  return result;
}

function killable(path: string, out: FileWriter): FileWriter {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return {
    ...out,
    async write(bytes) {
      const half = Math.ceil(bytes.length / 2);
      await cross(`${name} write:before`);
      const first = await out.write(bytes.subarray(0, half));
      await cross(`${name} write:inside`);
      const second = first === half && half < bytes.length ? await out.write(bytes.subarray(half)) : 0;
      await cross(`${name} write:after`);
      return first + second;
    },
    fsync: () => around(`${name} fsync`, out.fsync),
  };
}

function killableFiles(files: TranscriptFiles): TranscriptFiles {
  const name = (path: string) => path.slice(path.lastIndexOf("/") + 1);
  return {
    ...files,
    append: async (path) => killable(path, await files.append(path)),
    create: async (path) => killable(path, await around(`${name(path)} create`, () => files.create(path))),
    truncate: (path, bytes) => around(`${name(path)} truncate`, () => files.truncate(path, bytes)),
    rename: (from, to) => around(`${name(to)} rename`, () => files.rename(from, to)),
    unlink: (path) => around(`${name(path)} unlink`, () => files.unlink(path)),
    fsyncFolder: (folder) => around("folder fsync", () => files.fsyncFolder(folder)),
  };
}

const processes = systemProcessTable();
const self = await processes.identify(process.pid);
if (self === undefined) throw new Error("this process does not find itself");
const locks = fileLocks({
  dir: `${root}/locks`,
  processes,
  self: { process: self, command: `ao test ${what}` },
});
const files = killableFiles(systemTranscriptFiles());
const store = transcriptStore({ files, locks, sha256, clock: { nowMs: () => Date.now() }, writer: "child" });
const ref = { folder: `${root}/transcripts/shop`, name: "shop-1" };
const loaded = await store.load(ref);
const session = liveSession(store, loaded.kind === "loaded" ? loaded : undefined, ref);

async function change(): Promise<{ readonly kind: string }> {
  switch (what) {
    case "rewrite":
      return session.rewrite([...turns(1), ...turns("other")]);
    case "compact":
      return session.compact([...turns(1), ...turns("other")]);
    case "repair":
      return store.repair(ref);
    default:
      session.add(...turns("new"));
      return session.save();
  }
}

writeSync(1, `done ${(await change()).kind}\n`);
