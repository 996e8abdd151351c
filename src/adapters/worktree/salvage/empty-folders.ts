import { type BytePath, splitNul } from "./byte-path.ts";
import type { Plumbing } from "./plumbing.ts";
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

const isFolder = (path: BytePath): boolean => path.endsWith("/");
const withoutSlash = (path: BytePath): BytePath => path.replace(/\/$/, "");
