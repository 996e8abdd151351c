import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { IgnoredEvidence } from "./classify-ignored.ts";

/** What the index and the files of one working tree prove about ignored paths. */
export function ignoredEvidence(root: string, tracked: readonly string[]): IgnoredEvidence {
  const files = new Set(tracked);
  const folders = foldersOf(tracked);
  const environments = new Map<string, boolean>();
  return {
    isTracked: (file) => files.has(file),
    holdsTracked: (folder) => folders.has(folder),
    isPythonEnv(folder) {
      const known = environments.get(folder);
      if (known !== undefined) return known;
      const isEnv = existsSync(join(root, folder, "pyvenv.cfg"));
      environments.set(folder, isEnv);
      return isEnv;
    },
  };
}

/** All folders above the paths, but not the top one. */
function foldersOf(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    let folder = dirname(path);
    while (folder !== "." && !folders.has(folder)) {
      folders.add(folder);
      folder = dirname(folder);
    }
  }
  return folders;
}
