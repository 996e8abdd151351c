import { createHash } from "node:crypto";
import type { BytePath } from "./byte-path.ts";

/** The hash that names the objects of a repository. */
export type ObjectFormat = "sha1" | "sha256";

export interface IndexEntry {
  readonly path: BytePath;
  /** As git writes it, for example `100644`; `160000` is a commit of another repository. */
  readonly mode: string;
  readonly oid: string;
  /** 0, or 1 to 3 for the sides of a conflict. */
  readonly stage: number;
  /** `git update-index --assume-unchanged` */
  readonly assumeUnchanged: boolean;
  readonly skipWorktree: boolean;
  /** `git add --intent-to-add` */
  readonly intentToAdd: boolean;
  /** The file as git last saw it. */
  readonly seen: SeenFile;
}

/** What the system said of a file; sizes and inode numbers are cut to 32 bits. */
export interface SeenFile {
  readonly ctimeNs: bigint;
  readonly mtimeNs: bigint;
  readonly inode: number;
  readonly size: number;
}

export interface IndexContent {
  /** The index as a file that says nothing but its entries: the same for the same index, whatever git last saw. */
  readonly canonical: Buffer;
  /** By path and stage. */
  readonly entries: readonly IndexEntry[];
}

const HEADER_BYTES = 12;
const STAT_BYTES = 40;
const MODE_AT = 24;
const MODE_BYTES = 4;

/**
 * Reads an index file of version 2 or 3 that is whole (gitformat-index(5)). Of its extensions git needs none to
 * tell what is in such an index.
 *
 * @returns undefined when it is of another form: of version 4, in two files, or with folders for entries.
 */
export function readIndexFile(file: Buffer, format: ObjectFormat): IndexContent | undefined {
  const version = file.length < HEADER_BYTES ? 0 : file.readUInt32BE(4);
  if (file.toString("latin1", 0, 4) !== "DIRC" || (version !== 2 && version !== 3)) return undefined;
  const entries: IndexEntry[] = [];
  const parts: Buffer[] = [file.subarray(0, HEADER_BYTES)];
  let at = HEADER_BYTES;
  for (let left = file.readUInt32BE(8); left > 0; left -= 1) {
    const { entry, bytes } = readEntry(file, at, oidBytes(format));
    entries.push(entry);
    parts.push(withoutStat(file.subarray(at, at + bytes)));
    at += bytes;
  }
  const names = extensionsOf(file.subarray(at, file.length - oidBytes(format)));
  if (names.some((name) => NOT_WHOLE.includes(name))) return undefined;
  const content = Buffer.concat(parts);
  const checksum = createHash(format).update(content).digest();
  return { canonical: Buffer.concat([content, checksum]), entries };
}

/** A split index and a sparse one. */
const NOT_WHOLE = ["link", "sdir"];

/** Each is a name of four letters, its size and its content. */
function extensionsOf(rest: Buffer): readonly string[] {
  const names: string[] = [];
  for (let at = 0; at + 8 <= rest.length; at += 8 + rest.readUInt32BE(at + 4)) {
    names.push(rest.toString("latin1", at, at + 4));
  }
  return names;
}

function oidBytes(format: ObjectFormat): number {
  return format === "sha1" ? 20 : 32;
}

function readEntry(file: Buffer, start: number, length: number): { entry: IndexEntry; bytes: number } {
  const flagsAt = start + STAT_BYTES + length;
  const flags = file.readUInt16BE(flagsAt);
  const isExtended = (flags & 0x4000) !== 0;
  const more = isExtended ? file.readUInt16BE(flagsAt + 2) : 0;
  const nameAt = flagsAt + (isExtended ? 4 : 2);
  const end = file.indexOf(0, nameAt);
  if (end < 0) throw new Error("the index ends in the middle of an entry");
  const entry: IndexEntry = {
    path: file.toString("latin1", nameAt, end),
    mode: file.readUInt32BE(start + MODE_AT).toString(8),
    oid: file.toString("hex", start + STAT_BYTES, flagsAt),
    stage: (flags >> 12) & 3,
    assumeUnchanged: (flags & 0x8000) !== 0,
    skipWorktree: (more & 0x4000) !== 0,
    intentToAdd: (more & 0x2000) !== 0,
    seen: readSeen(file, start),
  };
  return { entry, bytes: (end - start + 8) & ~7 };
}

function readSeen(file: Buffer, start: number): SeenFile {
  return {
    ctimeNs: readTimeNs(file, start),
    mtimeNs: readTimeNs(file, start + 8),
    inode: file.readUInt32BE(start + 20),
    size: file.readUInt32BE(start + 36),
  };
}

/** Seconds and nanoseconds. */
function readTimeNs(file: Buffer, at: number): bigint {
  return BigInt(file.readUInt32BE(at)) * 1_000_000_000n + BigInt(file.readUInt32BE(at + 4));
}

/** Times, place and size of the file as git last saw it are no part of what is staged. */
function withoutStat(entry: Buffer): Buffer {
  const plain = Buffer.from(entry);
  plain.fill(0, 0, MODE_AT);
  plain.fill(0, MODE_AT + MODE_BYTES, STAT_BYTES);
  return plain;
}
