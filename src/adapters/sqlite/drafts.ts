import { mkdtempSync, readdirSync, rmSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";

/** `.ao-new-<pid>-…`; a folder of an older `ao` has no pid in its name. */
const DRAFT = /^\.ao-new-(?:(\d+)-)?/;
/** A database is made in milliseconds. */
const SURELY_DONE_MS = 60_000;
/** Then a process of that pid is another one. */
const FORGOTTEN_MS = 24 * 3_600_000;

/** Makes a folder beside `path` for a draft of it, with its maker's pid in its name. */
export function makeDraftFolder(path: string): string {
  return mkdtempSync(join(dirname(path), `.ao-new-${process.pid}-`));
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasErrorCode(error, "ESRCH");
  }
}

function isLeft(pid: string | undefined, { mtimeMs }: Stats): boolean {
  const ageMs = Date.now() - mtimeMs;
  if (ageMs > FORGOTTEN_MS) return true;
  return pid !== undefined && ageMs > SURELY_DONE_MS && !lives(Number(pid));
}

/**
 * Removes the folders of drafts beside `path` that killed processes have left. Never throws: what cannot be
 * removed now is in nobody's way.
 */
export function removeLeftDrafts(path: string): void {
  const folder = dirname(path);
  try {
    for (const name of readdirSync(folder)) {
      const match = DRAFT.exec(name);
      if (match === null) continue;
      const draft = join(folder, name);
      const stats = statSync(draft, { throwIfNoEntry: false });
      if (stats !== undefined && isLeft(match[1], stats)) rmSync(draft, { recursive: true, force: true });
    }
  } catch {
    // The next command tries again.
  }
}
