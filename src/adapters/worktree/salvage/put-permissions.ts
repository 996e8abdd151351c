import { lstatSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { type BytePath, parentOf, parentsOf, placeOf } from "./byte-path.ts";
import { type Permissions, permissionsOf } from "./permissions.ts";
import { realFolders } from "./real-folders.ts";
import type { SavedState } from "./saved-state.ts";
import type { TreeEntry } from "./scan-files.ts";

/** What a file has to have. */
export function filePermissions(permissions: Permissions, path: BytePath, { mode }: TreeEntry): number {
  return permissionsOf(permissions, path, mode === "100755" ? "executable" : "file");
}

/** Gives files and folders the permissions that they had; those of folders last and from below. */
export async function putPermissions(
  root: string,
  { files, empty, special, permissions }: Pick<SavedState, "files" | "empty" | "special" | "permissions">,
): Promise<void> {
  const folders = realFolders(root);
  for (const [path, entry] of files) {
    if (!entry.mode.startsWith("100") || !folders.has(parentOf(path))) continue;
    await put(root, path, filePermissions(permissions, path, entry));
  }
  const around = new Set([...files.keys(), ...empty, ...special.map(({ path }) => path)].flatMap(parentsOf));
  const all = [...new Set([...around, ...empty])].filter((path) => folders.has(path));
  for (const path of all.sort().reverse()) await put(root, path, permissionsOf(permissions, path, "folder"));
}

async function put(root: string, path: BytePath, wanted: number): Promise<void> {
  const place = placeOf(root, path);
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink() || (found.mode & 0o7777) === wanted) return;
  await chmod(place, wanted);
}
