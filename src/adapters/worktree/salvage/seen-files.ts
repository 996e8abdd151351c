import type { BigIntStats } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BytePath } from "./byte-path.ts";
import type { ObjectFormat } from "./index-file.ts";
import { isRecord } from "./layout.ts";

/** Files that were read before, so that those of which nothing changed need not be read again. */
export interface SeenFiles {
  /** The name of a file's content when it is as it was then. */
  oidOf(path: BytePath, found: BigIntStats): string | undefined;
  note(path: BytePath, found: BigIntStats, oid: string): void;
  /** Remembers what was asked for or noted, and forgets the rest. A courtesy: it may fail. */
  save(): Promise<void>;
}

const FILE = "ao-seen.json";
/** One that changed so lately may change again without its times telling, on any file system. */
const SETTLED_AFTER_NS = 3_000_000_000n;

/** What a worktree's private git directory remembers. */
export async function seenFiles(gitDir: string, format: ObjectFormat): Promise<SeenFiles> {
  const path = join(gitDir, FILE);
  const before = parse(await readFile(path, "utf8").catch(() => ""), format);
  const now = new Map<BytePath, readonly [string, string]>();
  return {
    oidOf(name, found) {
      const [stamp, oid] = before.get(name) ?? [];
      if (stamp === undefined || oid === undefined || stamp !== stampOf(found)) return undefined;
      now.set(name, [stamp, oid]);
      return oid;
    },
    note(name, found, oid) {
      const settledNs = BigInt(Date.now()) * 1_000_000n - SETTLED_AFTER_NS;
      const isSettled = found.mtimeNs < settledNs && found.ctimeNs < settledNs;
      if (isSettled) now.set(name, [stampOf(found), oid]);
    },
    async save() {
      if (isSame(before, now)) return;
      const text = JSON.stringify({ version: 1, format, files: Object.fromEntries(now) });
      const written = writeFile(`${path}.tmp`, text, { mode: 0o600 });
      await written.then(() => rename(`${path}.tmp`, path)).catch(() => undefined);
    },
  };
}

function stampOf({ ino, size, mode, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mode, mtimeNs, ctimeNs].join(" ");
}

type Known = ReadonlyMap<BytePath, readonly [string, string]>;

function isSame(one: Known, other: Known): boolean {
  return one.size === other.size && [...one].every(([path, [stamp]]) => other.get(path)?.[0] === stamp);
}

/** Of another form, or none, it says nothing. */
function parse(text: string, format: ObjectFormat): Known {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value) || value["version"] !== 1 || value["format"] !== format) return new Map();
    const { files } = value;
    return new Map(isRecord(files) ? Object.entries(files).flatMap(parseEntry) : []);
  } catch {
    return new Map();
  }
}

function parseEntry([path, value]: readonly [string, unknown]): readonly [
  BytePath,
  readonly [string, string],
][] {
  if (!Array.isArray(value)) return [];
  const [stamp, oid]: readonly unknown[] = value;
  return typeof stamp === "string" && typeof oid === "string" ? [[path, [stamp, oid]]] : [];
}
