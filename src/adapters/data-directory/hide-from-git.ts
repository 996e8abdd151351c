import { lstatSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";

/**
 * Keeps a folder that lies inside a repository out of its `git status` and `git add`, by a `.gitignore` in that
 * very folder, which git finds there and hides as well (gitignore(5)); no file of the repository is touched. One
 * that is there stays as it is. Elsewhere it does nothing. Takes the resolved path of a folder that is there.
 */
export function hideFromGit(folder: string): void {
  if (!liesInRepository(dirname(folder))) return;
  try {
    writeFileSync(join(folder, ".gitignore"), "*\n", { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  }
}

function liesInRepository(folder: string): boolean {
  if (isThere(join(folder, ".git"))) return true;
  const parent = dirname(folder);
  return parent !== folder && liesInRepository(parent);
}

/** What cannot be looked at is none that git would look into as this user. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
