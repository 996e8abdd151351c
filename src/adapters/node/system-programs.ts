import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Programs } from "../../ports/programs.ts";

async function isExecutableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/**
 * Executables on disk. Entries of a search path that are empty or relative are passed over: they would
 * depend on where `ao` was called, often inside a repository that somebody else wrote.
 */
export function systemPrograms(): Programs {
  return {
    async find(name, path, directory) {
      if (name === "") return undefined;
      const folders = path.split(":").filter((folder) => folder.startsWith("/"));
      const candidates = name.includes("/")
        ? [resolve(directory, name)]
        : folders.map((folder) => join(folder, name));
      for (const candidate of candidates) {
        if (await isExecutableFile(candidate)) return candidate;
      }
      return undefined;
    },
  };
}
