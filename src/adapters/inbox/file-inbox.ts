import { randomInt } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";
import { AoError, errorMessage } from "../../domain/errors.ts";
import type { HookEvent } from "../../domain/facts.ts";
import { formatHookEvent } from "../../domain/hook-event.ts";
import type { LaunchId } from "../../domain/ids.ts";
import type { Inbox } from "../../ports/inbox.ts";
import { parseEventFile } from "./event-file.ts";
import { isOlder, makeFolders, moveEntry, namesIn, removeFile, removeOlderThan } from "./folders.ts";
import { readInbox, readLaunch } from "./read-events.ts";

export interface FileInboxOptions {
  /** The folder that holds `tmp` and `new`; it need not be there. */
  readonly dir: string;
}

const DAY_MS = 24 * 3_600_000;
/** No hook takes a day to write its event. */
const DRAFT_KEPT_MS = DAY_MS;
const ASIDE_KEPT_MS = 14 * DAY_MS;

function unusable(dir: string, doing: string, error: unknown): AoError {
  return new AoError("data_dir_unusable", `the inbox ${dir} could not be ${doing}: ${errorMessage(error)}`, {
    hint: `check the owner and the permissions of ${dir}`,
    cause: error,
  });
}

/** Names of one launch sort by the time of writing, and by the order of writing within one process. */
function eventNames(): (launchId: string) => string {
  let count = 0;
  return (launchId) => {
    count += 1;
    const time = String(Date.now()).padStart(15, "0");
    const order = String(count).padStart(9, "0");
    const chance = String(randomInt(1e9)).padStart(9, "0");
    return `${launchId}-${time}-${process.pid}-${order}${chance}`;
  };
}

function reading<Result>(dir: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw unusable(dir, "read", error);
  }
}

function pending(dir: string, launchId: LaunchId | undefined): readonly HookEvent[] {
  const ready = join(dir, "new");
  try {
    return launchId === undefined ? readInbox(ready).events : readLaunch(ready, launchId);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return [];
    throw error;
  }
}

function changing<Result>(dir: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw unusable(dir, "changed", error);
  }
}

function setAside(dir: string, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const aside = join(dir, "aside");
  makeFolders([aside]);
  for (const id of ids) moveEntry(id, join(dir, "new"), aside);
}

/** Names of what waits and will never be an event. */
function hopeless(ready: string, nowMs: number): readonly string[] {
  if (namesIn(ready).length === 0) return [];
  const { malformed, unfinished } = readInbox(ready);
  return [...malformed, ...unfinished.filter((name) => isOlder(join(ready, name), nowMs - DRAFT_KEPT_MS))];
}

function tidy(dir: string, nowMs: number): number {
  setAside(dir, hopeless(join(dir, "new"), nowMs));
  removeOlderThan(join(dir, "tmp"), nowMs - DRAFT_KEPT_MS);
  removeOlderThan(join(dir, "aside"), nowMs - ASIDE_KEPT_MS);
  return namesIn(join(dir, "aside")).length;
}

/** The bytes of an event, known to be read back as the same event. */
function bytesOf(event: Omit<HookEvent, "id">): Buffer {
  const bytes = Buffer.from(formatHookEvent(event));
  const back = parseEventFile(bytes);
  const fields = ["sessionId", "launchId", "agent", "event", "atMs"] as const;
  if (typeof back === "string" || fields.some((field) => back[field] !== event[field])) {
    throw new AoError("usage", `the hook event ${JSON.stringify(event.event)} is malformed or too large`);
  }
  return bytes;
}

/** It was never read, and why it cannot be is what the caller reports. */
function discard(dir: string, name: string): void {
  try {
    removeFile(join(dir, "tmp"), name);
  } catch {
    // A later tidy removes it.
  }
}

function put(dir: string, name: string, bytes: Buffer): void {
  const draft = join(dir, "tmp", name);
  try {
    makeFolders([join(dir, "tmp"), join(dir, "new")]);
    writeFileSync(draft, bytes, { mode: 0o600, flag: "wx" });
    renameSync(draft, join(dir, "new", name));
  } catch (error) {
    discard(dir, name);
    throw unusable(dir, "written", error);
  }
}

/**
 * The inbox as a folder, one event a file, so that a hook needs no more than a shell: it writes into `new`,
 * and what it has not ended with the last line is no event yet. Who has more writes into `tmp` and renames.
 * The name of the file is the event's id. What nobody will apply lies in `aside`.
 */
export function fileInbox({ dir }: FileInboxOptions): Inbox {
  const nextName = eventNames();
  return {
    pending: async (launchId) => reading(dir, () => pending(dir, launchId)),
    countAside: async () => reading(dir, () => namesIn(join(dir, "aside")).length),
    remove: async (ids) =>
      changing(dir, () => {
        for (const id of ids) removeFile(join(dir, "new"), id);
      }),
    setAside: async (ids) => changing(dir, () => setAside(dir, ids)),
    tidy: async (nowMs) => changing(dir, () => tidy(dir, nowMs)),
    async put(event) {
      const bytes = bytesOf(event);
      put(dir, nextName(event.launchId), bytes);
    },
  };
}
