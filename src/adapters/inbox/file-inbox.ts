import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AoError, errorMessage } from "../../domain/errors.ts";
import type { HookEvent } from "../../domain/facts.ts";
import type { Inbox } from "../../ports/inbox.ts";
import { formatEventFile, parseEventFile } from "./event-file.ts";
import { readEvents } from "./read-events.ts";

export interface FileInboxOptions {
  /** The folder that holds `tmp` and `new`; it need not be there. */
  readonly dir: string;
}

/** Codes of an unlink that found no file of that name: gone, impossible as a name, or a folder. */
const NO_SUCH_FILE: readonly unknown[] = ["ENOENT", "ENAMETOOLONG", "EISDIR", "ERR_INVALID_ARG_VALUE"];

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function unusable(dir: string, doing: string, error: unknown): AoError {
  return new AoError("data_dir_unusable", `the inbox ${dir} could not be ${doing}: ${errorMessage(error)}`, {
    hint: `check the owner and the permissions of ${dir}`,
    cause: error,
  });
}

/** Names sort by the time of writing, and by the order of writing within one process. */
function eventNames(): () => string {
  let count = 0;
  return () => {
    count += 1;
    const time = String(Date.now()).padStart(15, "0");
    const order = String(count).padStart(9, "0");
    return `${time}-${process.pid}-${order}${randomBytes(4).toString("hex")}`;
  };
}

function pending(dir: string): readonly HookEvent[] {
  try {
    return readEvents(join(dir, "new"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw unusable(dir, "read", error);
  }
}

function remove(dir: string, id: string): void {
  // An id is the name of a file, never a path that leads out of the folder.
  if (id === "" || id === "." || id === ".." || id.includes("/")) return;
  try {
    unlinkSync(join(dir, "new", id));
  } catch (error) {
    if (!NO_SUCH_FILE.includes(codeOf(error))) throw unusable(dir, "emptied", error);
  }
}

/** The bytes of an event, known to be read back as the same event. */
function bytesOf(event: Omit<HookEvent, "id">): Buffer {
  const bytes = formatEventFile(event);
  const back = parseEventFile(bytes);
  const fields = ["sessionId", "launchId", "agent", "event", "atMs"] as const;
  if (back === undefined || fields.some((field) => back[field] !== event[field])) {
    throw new AoError("usage", `the hook event ${JSON.stringify(event.event)} is malformed or too large`);
  }
  return bytes;
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was never written, and why is what the caller reports.
  }
}

function put(dir: string, name: string, bytes: Buffer): void {
  const draft = join(dir, "tmp", name);
  try {
    for (const folder of ["tmp", "new"]) mkdirSync(join(dir, folder), { recursive: true, mode: 0o700 });
    writeFileSync(draft, bytes, { mode: 0o600, flag: "wx" });
    renameSync(draft, join(dir, "new", name));
  } catch (error) {
    discard(draft);
    throw unusable(dir, "written", error);
  }
}

/**
 * The inbox as a folder, one event a file, so that a hook needs no more than a shell: it writes into `tmp`
 * and renames into `new`. The name of the file is the event's id.
 */
export function fileInbox({ dir }: FileInboxOptions): Inbox {
  const nextName = eventNames();
  return {
    pending: async () => pending(dir),
    remove: async (ids) => {
      for (const id of ids) remove(dir, id);
    },
    put: async (event) => put(dir, nextName(), bytesOf(event)),
  };
}
