import { createHash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from "node:fs";
import { setImmediate } from "node:timers/promises";
import { errorMessage } from "../../../domain/errors.ts";
import { hasCode } from "../system-error.ts";
import { type BytePath, placeOf } from "./byte-path.ts";
import type { ObjectFormat } from "./index-file.ts";
import type { SeenFiles } from "./seen-files.ts";

/** What is at one path of a working tree. Modes of files are git's, permissions the system's (`chmod`). */
export type FileEntry =
  | { readonly kind: "absent" }
  | {
      readonly kind: "file";
      readonly mode: "100644" | "100755";
      readonly oid: string;
      readonly size: number;
      readonly permissions: number;
    }
  | { readonly kind: "link"; readonly mode: "120000"; readonly oid: string; readonly target: Buffer }
  | { readonly kind: "folder" }
  /** A socket, a pipe or a device. */
  | { readonly kind: "special" }
  | { readonly kind: "unreadable"; readonly cause: string };

const CHUNK_BYTES = 1024 * 1024;
const buffer = Buffer.alloc(CHUNK_BYTES);

/** Opens a file and nothing else: no link is followed, and no pipe waited for. */
export const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The name that git gives to a blob of this content. */
export function blobOid(format: ObjectFormat, content: Uint8Array): string {
  return createHash(format).update(`blob ${content.length}\0`).update(content).digest("hex");
}

export interface Reading {
  readonly root: string;
  readonly format: ObjectFormat;
  /** Without it each file is read. */
  readonly seen?: SeenFiles | undefined;
}

/** Reads what is at a path, the bytes as they are: no filter sees them. A link is not followed. */
export async function readFileEntry(reading: Reading, path: BytePath): Promise<FileEntry> {
  const place = placeOf(reading.root, path);
  try {
    const found = lstatSync(place, { bigint: true });
    if (found.isDirectory()) return { kind: "folder" };
    if (found.isSymbolicLink()) {
      const target = readlinkSync(place, { encoding: "buffer" });
      return { kind: "link", mode: "120000", oid: blobOid(reading.format, target), target };
    }
    if (!found.isFile()) return { kind: "special" };
    const oid = reading.seen?.oidOf(path, found);
    return oid === undefined ? await readPlain(reading, path) : fileOf(found, oid);
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return { kind: "absent" };
    return { kind: "unreadable", cause: errorMessage(error) };
  }
}

/** One that grows or shrinks meanwhile gets a name that no content has; the next look differs then. */
async function readPlain({ root, format, seen }: Reading, path: BytePath): Promise<FileEntry> {
  const file = openSync(placeOf(root, path), READ_FLAGS);
  try {
    const found = fstatSync(file, { bigint: true });
    if (!found.isFile()) return { kind: "special" };
    const hash = createHash(format).update(`blob ${found.size}\0`);
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) {
      hash.update(buffer.subarray(0, read));
      if (read === CHUNK_BYTES) await setImmediate();
    }
    const oid = hash.digest("hex");
    seen?.note(path, found, oid);
    return fileOf(found, oid);
  } finally {
    closeSync(file);
  }
}

function fileOf(found: BigIntStats, oid: string): FileEntry {
  const permissions = Number(found.mode) & 0o7777;
  const mode = (permissions & 0o100) === 0 ? "100644" : "100755";
  return { kind: "file", mode, oid, size: Number(found.size), permissions };
}
