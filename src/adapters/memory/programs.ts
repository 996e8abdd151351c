import { join, resolve } from "node:path";
import type { Programs } from "../../ports/programs.ts";

/** Finds among the given absolute paths of executables, and nowhere else. */
export function memoryPrograms(executables: readonly string[] = []): Programs {
  const known = new Set(executables);

  return {
    async find(name, path, directory) {
      const folders = path.split(":").filter((folder) => folder.startsWith("/"));
      const candidates = name.includes("/")
        ? [resolve(directory, name)]
        : folders.map((folder) => join(folder, name));
      return candidates.find((candidate) => known.has(candidate));
    },
  };
}
