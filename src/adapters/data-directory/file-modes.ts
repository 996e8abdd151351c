import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Folders whose files belong to the user's repositories and agents, not to `ao`. */
const NOT_OURS: ReadonlySet<string> = new Set(["worktrees", "trash"]);
const OPEN_TO_OTHERS = 0o077;
/** `launch/<session>/<launch>/prompt` lies this deep, and nothing of ours deeper. */
const OUR_DEPTH = 4;

function below(path: string, depth: number): readonly string[] {
  if (depth === 0) return [];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const child = join(path, entry.name);
    if (entry.isSymbolicLink()) return [];
    if (!entry.isDirectory() || NOT_OURS.has(entry.name)) return [child];
    return [child, ...below(child, depth - 1)];
  });
}

/** What in the data directory, itself included, other users could read or write; worktrees' content aside. */
export function openToOthers(dataDir: string): readonly string[] {
  const paths = [dataDir, ...below(dataDir, OUR_DEPTH)];
  return paths.filter((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats !== undefined && (stats.mode & OPEN_TO_OTHERS) !== 0;
  });
}

/** Takes the rights of other users away; the owner's stay. */
export function closeToOthers(paths: readonly string[]): void {
  for (const path of paths) chmodSync(path, lstatSync(path).mode & 0o700);
}
