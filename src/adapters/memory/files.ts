import { dirname } from "node:path";
import { isDraftName } from "../../domain/draft-name.ts";
import { AoError } from "../../domain/errors.ts";
import type { Files } from "../../ports/files.ts";

/** Files in memory, with a look inside for tests. */
export interface MemoryFiles extends Files {
  /** The paths of all files, sorted. */
  paths(): readonly string[];
}

function ancestors(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestors(parent)];
}

/** A file tree in memory. Folders exist while a file is below them; there are no links. */
export function memoryFiles(initial: Readonly<Record<string, string>> = {}): MemoryFiles {
  const contents = new Map(Object.entries(initial));
  const writtenAtMs = new Map<string, number>();
  const below = (path: string) => [...contents.keys()].filter((file) => file.startsWith(`${path}/`));

  return {
    async write(path, content) {
      const blocked = below(path).length > 0 || ancestors(path).some((folder) => contents.has(folder));
      if (blocked) throw new AoError("data_dir_unusable", `cannot write ${path}`);
      contents.set(path, content);
      writtenAtMs.set(path, Date.now());
    },
    read: async (path) => contents.get(path),
    exists: async (path) => contents.has(path) || below(path).length > 0,
    names: async (folder) => [
      ...new Set(below(folder).map((path) => path.slice(folder.length + 1).split("/")[0] ?? "")),
    ],
    async removeTree(path) {
      for (const file of [path, ...below(path)]) contents.delete(file);
    },
    // A folder that nothing is below is none.
    removeEmptyFolder: async () => undefined,
    async removeDrafts(folder, beforeMs) {
      const isOld = (file: string) => (writtenAtMs.get(file) ?? 0) < beforeMs;
      const drafts = below(folder).filter((file) => dirname(file) === folder && isDraftName(file));
      for (const draft of drafts.filter(isOld)) contents.delete(draft);
    },
    paths: () => [...contents.keys()].sort(),
  };
}
