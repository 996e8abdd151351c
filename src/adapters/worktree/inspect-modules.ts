import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../domain/errors.ts";
import type { Found } from "./findings.ts";
import { localCommits } from "./lost-commits.ts";
import type { Git } from "./run-git.ts";
import { hasCode } from "./system-error.ts";

/**
 * Repositories of submodules in a private git directory that have commits no remote has. Their own notion of
 * a working tree is overridden: git would not start without it, and it may be taken out or moved aside.
 */
export async function inspectModules(git: Git, gitDir: string): Promise<Found> {
  const submodule: string[] = [];
  const unreadable: string[] = [];
  for (const module of await findModules(join(gitDir, "modules"))) {
    const where = { kind: "git_dir", gitDir: module, workTree: module } as const;
    const name = module.slice(gitDir.length + 1);
    if (isLossy(module)) {
      unreadable.push(`${name}: its name is no UTF-8`);
      continue;
    }
    try {
      if ((await localCommits(git, where)).length > 0) submodule.push(name);
    } catch (error) {
      unreadable.push(`${name}: ${errorMessage(error)}`);
    }
  }
  return { submodule, unreadable };
}

/** git can be led only to what has a name as text (U+FFFD stands for bytes that are none). */
const isLossy = (path: string): boolean => path.includes("\uFFFD");

/** Names of submodules may have slashes, and a submodule may have submodules. */
async function findModules(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  });
  const isGitDir =
    entries.some(({ name }) => name === "HEAD") && entries.some(({ name }) => name === "objects");
  if (isGitDir) return [folder, ...(await findModules(join(folder, "modules")))];
  const folders = entries.filter((entry) => entry.isDirectory());
  const below = folders.map(({ name }) => join(folder, name));
  return (await Promise.all(below.map((path) => (isLossy(path) ? [path] : findModules(path))))).flat();
}
