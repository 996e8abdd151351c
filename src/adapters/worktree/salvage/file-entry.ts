import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { errorMessage } from "../../../domain/errors.ts";
import { hasCode } from "../system-error.ts";
import { type BytePath, placeOf } from "./byte-path.ts";
import type { ObjectFormat } from "./index-file.ts";

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

/** Reads what is at a path, the bytes as they are: no filter sees them. A link is not followed. */
export async function readFileEntry(root: string, path: BytePath, format: ObjectFormat): Promise<FileEntry> {
  const place = placeOf(root, path);
  try {
    const found = lstatSync(place);
    if (found.isDirectory()) return { kind: "folder" };
    if (found.isSymbolicLink()) {
      const target = readlinkSync(place, { encoding: "buffer" });
      return { kind: "link", mode: "120000", oid: blobOid(format, target), target };
    }
    return found.isFile() ? await readPlain(place, format) : { kind: "special" };
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return { kind: "absent" };
    return { kind: "unreadable", cause: errorMessage(error) };
  }
}

/** One that grows or shrinks meanwhile gets a name that no content has; the next look differs then. */
async function readPlain(place: Buffer, format: ObjectFormat): Promise<FileEntry> {
  const file = openSync(place, READ_FLAGS);
  try {
    const found = fstatSync(file);
    if (!found.isFile()) return { kind: "special" };
    const hash = createHash(format).update(`blob ${found.size}\0`);
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) {
      hash.update(buffer.subarray(0, read));
      if (read === CHUNK_BYTES) await setImmediate();
    }
    const permissions = found.mode & 0o7777;
    const mode = (permissions & 0o100) === 0 ? "100644" : "100755";
    return { kind: "file", mode, oid: hash.digest("hex"), size: found.size, permissions };
  } finally {
    closeSync(file);
  }
}
