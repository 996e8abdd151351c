import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";
import type { HookEvent } from "../../domain/facts.ts";
import { MAX_HOOK_BODY_BYTES, MAX_HOOK_HEAD_BYTES } from "../../domain/hook-event.ts";
import type { LaunchId } from "../../domain/ids.ts";
import { parseEventFile } from "./event-file.ts";

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

function readOpen(fd: number, id: string): HookEvent | "malformed" | "unfinished" {
  const stats = fstatSync(fd);
  if (!stats.isFile() || stats.size > MAX_HOOK_HEAD_BYTES + MAX_HOOK_BODY_BYTES) return "malformed";
  const content = parseEventFile(readAll(fd, stats.size));
  if (typeof content === "string") return content;
  return { ...content, id, atMs: content.atMs ?? Math.floor(stats.mtimeMs) };
}

/** What an entry that will never be opened as a file gives: a link, a socket, a file of another user. */
const NO_FILE: readonly string[] = ["ELOOP", "ENXIO", "EACCES", "EPERM"];

type Found = HookEvent | "malformed" | "unfinished" | "unreadable";

/** The event in a file; `unreadable` also when it is gone by now. One bad entry must not hide the others. */
function readEvent(directory: string, id: string): Found {
  let fd: number | undefined;
  try {
    fd = openSync(join(directory, id), OPEN_FLAGS);
    return readOpen(fd, id);
  } catch (error) {
    return hasErrorCode(error, ...NO_FILE) ? "malformed" : "unreadable";
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function byTimeThenId(one: HookEvent, other: HookEvent): number {
  if (one.atMs !== other.atMs) return one.atMs - other.atMs;
  return one.id < other.id ? -1 : 1;
}

/** A launch id, a UUID, leads the names that the hook script, `fileInbox` and the plugin of opencode give. */
const OF_LAUNCH = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-/;

/** A name that no launch id leads may be of any launch: the embedded agent's are numbers alone. */
function mayBeOf(name: string, launchId: LaunchId): boolean {
  const [, launch = launchId] = OF_LAUNCH.exec(name) ?? [];
  return launch === launchId;
}

/**
 * The events of one launch, by time, then by id. Files whose names say that they are of another are not opened.
 *
 * @throws Error when the folder itself cannot be read.
 */
export function readLaunch(directory: string, launchId: LaunchId): readonly HookEvent[] {
  const names = readdirSync(directory).filter((name) => mayBeOf(name, launchId));
  return readNames(directory, names).events.filter((event) => event.launchId === launchId);
}

/** What lies in an inbox. */
export interface InboxContent {
  /** By time, then by id, which is the file's name. */
  readonly events: readonly HookEvent[];
  /** Names of entries that are no event; those that could not be read this time are left out. */
  readonly malformed: readonly string[];
  /** Names of files whose writer is not done with them, or never will be. */
  readonly unfinished: readonly string[];
}

/**
 * Everything in a folder of events.
 *
 * @throws Error when the folder itself cannot be read.
 */
export function readInbox(directory: string): InboxContent {
  return readNames(directory, readdirSync(directory));
}

function readNames(directory: string, names: readonly string[]): InboxContent {
  const events: HookEvent[] = [];
  const malformed: string[] = [];
  const unfinished: string[] = [];
  for (const name of names) {
    const event = readEvent(directory, name);
    if (event === "malformed") malformed.push(name);
    else if (event === "unfinished") unfinished.push(name);
    else if (event !== "unreadable") events.push(event);
  }
  return { events: events.sort(byTimeThenId), malformed, unfinished };
}
