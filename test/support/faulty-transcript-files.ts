import { AoError } from "../../src/domain/errors.ts";
import type { FileWriter, OpenFile, TranscriptFiles } from "../../src/ports/transcript-files.ts";
import { randomNumbers } from "../crash/random-numbers.ts";
import { type Disk, type Inode, writeTo } from "./faulty-disk.ts";

/**
 * What happens at a boundary.
 * - `kill`: the process is gone, all it has written is there.
 * - `power_loss`: the machine is gone, and what was not made durable is lost as `loss` says.
 * - `ENOSPC`: from here on nothing can be written, until there is room again.
 * - `EIO`: this one call fails, and an fsync that fails loses what it should have made durable.
 * - `short_write`: from here on each write takes but a part of what it is given.
 */
export type FaultMode = "kill" | "power_loss" | "ENOSPC" | "EIO" | "short_write";

export interface Fault {
  /** Number of the boundary, from 1. */
  readonly at: number;
  readonly mode: FaultMode;
  /** Of what was not durable: nothing stays, all stays, or a part of it in any order. */
  readonly loss?: "drop" | "keep" | "reorder";
  readonly seed?: number;
}

/** One process on a disk. */
export interface FaultyProcess {
  readonly files: TranscriptFiles;
  /** Names of the boundaries it has crossed: `<file>.<call>:before`, `:inside` and `:after`. */
  readonly crossed: readonly string[];
  /** Whether the fault has happened. */
  hasFaulted(): boolean;
  /** Makes room on the disk again. */
  makeRoom(): void;
  /** What `work` comes to; `undefined` when the process was ended in it. Nothing of it runs any more then. */
  run<Result>(work: () => Promise<Result>): Promise<{ readonly result: Result } | undefined>;
}

const KINDS = [
  ".events.jsonl.damaged",
  ".events.jsonl",
  ".jsonl.meta",
  ".event-index.json",
  ".jsonl",
] as const;
const NAMES = ["salvage", "log", "ledger", "index", "checkpoint"] as const;

/** What a file is to a transcript, `draft` of it included, `copy` of another. */
function roleOf(path: string): string {
  const isDraft = path.endsWith(".tmp");
  const name = isDraft ? path.slice(0, -".tmp".length) : path;
  const at = KINDS.findIndex((suffix) => name.endsWith(suffix));
  const role = NAMES[at] ?? "folder";
  return `${name.includes("-recovery-") ? "copy-" : ""}${role}${isDraft ? "-draft" : ""}`;
}

function failure(code: "ENOSPC" | "EIO", what: string): AoError {
  return new AoError("data_dir_unusable", `cannot ${what}: ${code}`);
}

interface Call<Result> {
  readonly what: string;
  /** Done whole. */
  readonly whole: () => Result;
  /** Done in part; what is atomic is done or not. */
  readonly part?: (below: (limit: number) => number) => Result;
  /** A failing one loses what it was to make durable. */
  readonly spoil?: () => void;
  /** Whether it takes room on the disk. */
  readonly takesRoom?: boolean;
}

/** A process that works on a disk, and meets a fault at one of its boundaries. */
export function faultyProcess(disk: Disk, fault?: Fault): FaultyProcess {
  const crossed: string[] = [];
  const mode = fault?.mode ?? "kill";
  const below = randomNumbers(fault?.seed ?? 1);
  let isDead = false;
  let isFull = false;
  let isShort = false;
  let hasFaulted = false;
  let tellDeath: () => void = () => undefined;
  const death = new Promise<undefined>((resolve) => {
    tellDeath = () => resolve(undefined);
  });
  const never = () => new Promise<never>(() => undefined);

  function die(): Promise<never> {
    isDead = true;
    if (mode === "power_loss") disk.losePower(fault?.loss ?? "reorder", below);
    tellDeath();
    return never();
  }

  function cross(name: string): boolean {
    crossed.push(name);
    if (crossed.length !== fault?.at) return false;
    hasFaulted = true;
    return true;
  }

  function perform<Result>(call: Call<Result>): Result {
    if (isFull && call.takesRoom) throw failure("ENOSPC", call.what);
    return isShort && call.takesRoom && call.part ? call.part(below) : call.whole();
  }

  /** The fault comes before a call does anything, or when it has done a part. */
  async function meet<Result>(call: Call<Result>, isInside: boolean): Promise<Result> {
    const part = isInside ? call.part : undefined;
    switch (mode) {
      case "kill":
      case "power_loss":
        part?.(below);
        return die();
      case "short_write":
        isShort = true;
        return perform(call);
      case "ENOSPC":
        isFull = true;
        return part && call.takesRoom ? part(below) : perform(call);
      case "EIO":
        part?.(below);
        call.spoil?.();
        throw failure(mode, call.what);
    }
  }

  /** The fault comes when a call has done all it had to do. */
  async function meetAfter<Result>(call: Call<Result>, result: Result): Promise<Result> {
    isShort = mode === "short_write";
    isFull = mode === "ENOSPC";
    if (mode === "EIO") throw failure(mode, call.what);
    return isShort || isFull ? result : die();
  }

  async function step<Result>(call: Call<Result>): Promise<Result> {
    if (isDead) return never();
    if (cross(`${call.what}:before`)) return meet(call, false);
    if (call.part && cross(`${call.what}:inside`)) return meet(call, true);
    const result = perform(call);
    return cross(`${call.what}:after`) ? meetAfter(call, result) : result;
  }

  function openFile(path: string, inode: Inode): OpenFile {
    return {
      sizeBytes: inode.bytes.length,
      read: (offset, maxBytes) =>
        step({ what: `${roleOf(path)}.read`, whole: () => inode.bytes.slice(offset, offset + maxBytes) }),
      close: async () => undefined,
    };
  }

  function writer(path: string, inode: Inode): FileWriter {
    const role = roleOf(path);
    return {
      write: (bytes) =>
        step({
          what: `${role}.write`,
          takesRoom: true,
          whole: () => writeTo(inode, bytes),
          part: (limit) => writeTo(inode, bytes.subarray(0, Math.max(1, limit(bytes.length)))),
        }),
      fsync: () =>
        step({
          what: `${role}.fsync`,
          whole: () => disk.fsync(inode),
          part: () => undefined,
          spoil: () => disk.spoil(inode),
        }),
      close: async () => undefined,
    };
  }

  const atomic = (what: string, whole: () => void, takesRoom = false) => {
    const part = (limit: (below: number) => number) => (limit(2) === 0 ? undefined : whole());
    return step<void>({ what, whole, part, takesRoom });
  };

  return {
    crossed,
    hasFaulted: () => hasFaulted,
    makeRoom() {
      isFull = false;
    },
    async run(work) {
      const done = work().then((result) => ({ result }));
      return Promise.race([done, death]);
    },
    files: {
      async open(path) {
        const inode = await step({ what: `${roleOf(path)}.open`, whole: () => disk.find(path) });
        return inode && openFile(path, inode);
      },
      async append(path) {
        const opened = () => disk.make(path);
        return writer(
          path,
          await step({ what: `${roleOf(path)}.append`, whole: opened, takesRoom: !disk.find(path) }),
        );
      },
      async create(path) {
        const made = () => disk.makeEmpty(path);
        return writer(path, await step({ what: `${roleOf(path)}.create`, whole: made, takesRoom: true }));
      },
      truncate: (path, sizeBytes) => atomic(`${roleOf(path)}.truncate`, () => disk.truncate(path, sizeBytes)),
      rename: (from, to) => atomic(`${roleOf(to)}.rename`, () => disk.rename(from, to)),
      unlink: (path) => atomic(`${roleOf(path)}.unlink`, () => disk.unlink(path)),
      fsyncFolder: (folder) =>
        step({ what: "folder.fsync", whole: () => disk.fsyncFolder(folder), part: () => undefined }),
      makeFolder: (folder) =>
        step({ what: "folder.make", whole: () => disk.makeFolder(folder), takesRoom: true }),
      list: (folder) => step({ what: "folder.list", whole: () => disk.list(folder) }),
    },
  };
}
