import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import type { HookEvent } from "../../domain/facts.ts";
import { MAX_BODY_BYTES, MAX_HEAD_BYTES, parseEventFile } from "./event-file.ts";

/** Never follows a link, never waits for the writer of a named pipe. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function readAll(fd: number, sizeBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(sizeBytes);
  let filled = 0;
  while (filled < sizeBytes) {
    const count = readSync(fd, bytes, filled, sizeBytes - filled, null);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

function readOpen(fd: number, id: string): HookEvent | undefined {
  const stats = fstatSync(fd);
  if (!stats.isFile() || stats.size > MAX_HEAD_BYTES + MAX_BODY_BYTES) return undefined;
  const content = parseEventFile(readAll(fd, stats.size));
  return content && { ...content, id, atMs: content.atMs ?? Math.floor(stats.mtimeMs) };
}

/** The event in a file, or `undefined` when it is malformed, unreadable or gone by now. */
function readEvent(directory: string, id: string): HookEvent | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(join(directory, id), OPEN_FLAGS);
    return readOpen(fd, id);
  } catch {
    // One bad file must not hide the others; it stays where it is.
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function byTimeThenId(one: HookEvent, other: HookEvent): number {
  if (one.atMs !== other.atMs) return one.atMs - other.atMs;
  return one.id < other.id ? -1 : 1;
}

/**
 * Every well-formed event of a folder by time, then by id, which is the file's name.
 *
 * @throws Error when the folder itself cannot be read.
 */
export function readEvents(directory: string): readonly HookEvent[] {
  return readdirSync(directory)
    .flatMap((name) => readEvent(directory, name) ?? [])
    .sort(byTimeThenId);
}
