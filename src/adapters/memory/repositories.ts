import type { Repositories, RepositoryInfo } from "../../ports/repositories.ts";

/** The repositories port without git, with the levers a test pulls. */
export interface MemoryRepositories extends Repositories {
  /** Makes a repository known; one of the same path is replaced. */
  add(info: RepositoryInfo): void;
  /** Deletes a repository. */
  delete(path: string): void;
  has(path: string): boolean;
  /** The next `find` throws `error`. */
  failNext(error: Error): void;
}

/** An in-memory twin of the git adapter; the nearest repository at or above a folder is the one found. */
export function memoryRepositories(known: readonly RepositoryInfo[] = []): MemoryRepositories {
  const byPath = new Map(known.map((info) => [info.path, info]));
  const failures: Error[] = [];
  return {
    add: (info) => void byPath.set(info.path, info),
    delete: (path) => void byPath.delete(path),
    has: (path) => byPath.has(path),
    failNext: (error) => void failures.push(error),
    async find(directory) {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return nearest([...byPath.values()], directory);
    },
  };
}

function nearest(infos: readonly RepositoryInfo[], directory: string): RepositoryInfo | undefined {
  return infos
    .filter(({ path }) => directory === path || directory.startsWith(`${path}/`))
    .sort((a, b) => b.path.length - a.path.length)[0];
}
