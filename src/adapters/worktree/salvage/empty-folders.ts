import { readdirSync } from "node:fs";
import { type BytePath, parentsOf, placeOf, splitNul } from "./byte-path.ts";
import type { Plumbing } from "./plumbing.ts";
import { realFolders } from "./real-folders.ts";
import { walkFolder } from "./walk-folder.ts";

const OTHERS = ["ls-files", "-z", "--others", "--exclude-standard", "--directory"];

/**
 * Folders with nothing in them, outside of what is ignored; git itself keeps none. `--directory` names a
 * folder without any tracked file once and says nothing of what is in it (git-ls-files(1)).
 */
export async function emptyFolders(plumbing: Plumbing, root: string): Promise<readonly BytePath[]> {
  const action = "list the folders";
  const untracked = splitNul(await plumbing.tell(action, OTHERS)).filter(isFolder);
  if (untracked.length === 0) return [];
  const ignored = splitNul(await plumbing.tell(action, [...OTHERS, "--ignored"])).filter(isFolder);
  const leftOut = new Set(ignored.map(withoutSlash));
  return untracked.flatMap(
    (path) => walkFolder(root, withoutSlash(path), (folder) => leftOut.has(folder)).empty,
  );
}

/**
 * Those that have the name of a tracked file, or had tracked files in them alone, of which `--others` does not tell
 * (git 2.39.5). `missing` are the tracked files that are not there.
 */
export function foldersOfMissing(root: string, missing: readonly BytePath[]): readonly BytePath[] {
  const folders = realFolders(root);
  const inPlace = missing.filter(folders.has).flatMap((path) => walkFolder(root, path).empty);
  const around = [...new Set(missing.flatMap(parentsOf))].filter(folders.has);
  return [...inPlace, ...around.filter((path) => isEmpty(root, path))];
}

const isFolder = (path: BytePath): boolean => path.endsWith("/");
const withoutSlash = (path: BytePath): BytePath => path.replace(/\/$/, "");

/** What cannot be read is told where its files are looked at. */
function isEmpty(root: string, path: BytePath): boolean {
  try {
    return readdirSync(placeOf(root, path)).length === 0;
  } catch {
    return false;
  }
}
