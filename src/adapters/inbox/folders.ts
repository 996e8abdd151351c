import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";

/** Codes of a call that found no file of that name: gone, impossible as a name, or a folder. */
const NO_SUCH_FILE: readonly string[] = ["ENOENT", "ENAMETOOLONG", "EISDIR", "ERR_INVALID_ARG_VALUE"];

function unlessGone(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!hasErrorCode(error, ...NO_SUCH_FILE)) throw error;
  }
}

/** An id is the name of a file, never a path that leads out of the folder. */
function isName(id: string): boolean {
  return id !== "" && id !== "." && id !== ".." && !id.includes("/");
}

/** Makes folders that only their owner can read; those that are there stay as they are. */
export function makeFolders(paths: readonly string[]): void {
  for (const path of paths) mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** The names in a folder, none when it is not there. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return [];
    throw error;
  }
}

/** Removes one file. One that is gone, a folder, and what is no name are no error. */
export function removeFile(folder: string, name: string): void {
  if (isName(name)) unlessGone(() => unlinkSync(join(folder, name)));
}

/** Moves an entry, whatever it is, over one of the same name; one that is gone is no error. */
export function moveEntry(name: string, from: string, to: string): void {
  if (!isName(name)) return;
  unlessGone(() => {
    if (lstatSync(join(from, name), { throwIfNoEntry: false }) === undefined) return;
    rmSync(join(to, name), { recursive: true, force: true });
    renameSync(join(from, name), join(to, name));
  });
}

/** Whether an entry's content last changed before a moment, in Unix milliseconds; no when it is gone. */
export function isOlder(path: string, beforeMs: number): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.ctimeMs < beforeMs;
}

/** Removes every entry whose content last changed before a moment, in Unix milliseconds. Follows no link. */
export function removeOlderThan(folder: string, beforeMs: number): void {
  for (const name of namesIn(folder)) {
    unlessGone(() => {
      const path = join(folder, name);
      if (isOlder(path, beforeMs)) rmSync(path, { recursive: true, force: true });
    });
  }
}
