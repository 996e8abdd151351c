import { mkdir, readdir, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AoError } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import { entryAt } from "./entry-at.ts";
import type { Repository } from "./repository.ts";
import { isBelow, realpathOfAny } from "./safe-path.ts";
import { hasCode } from "./system-error.ts";

const ATTEMPTS = 5;

/**
 * Refuses a path where anything is; an empty folder is nothing.
 *
 * @throws AoError workspace_exists when something is there.
 */
export async function refuseTaken(path: string): Promise<void> {
  const entry = await entryAt(path);
  if (entry === undefined) return;
  const names = await readdir(path).catch(() => ["unreadable"]);
  if (!entry.isDirectory() || names.length > 0) throw workspaceExists(path);
}

/**
 * Makes the folder, mode 0700, and with it the claim that it is ours: whoever made it may remove it. Another
 * process may take away the folder around it meanwhile, finding that empty.
 *
 * @throws AoError workspace_exists when another process was first.
 */
export async function claimFolder(path: string): Promise<void> {
  await rmdir(path).catch(() => undefined);
  for (let attempt = 1; ; attempt += 1) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    try {
      return await mkdir(path, { mode: 0o700 });
    } catch (error) {
      if (hasCode(error, "EEXIST")) throw workspaceExists(path);
      if (!hasCode(error, "ENOENT") || attempt === ATTEMPTS) throw error;
    }
  }
}

/**
 * Keeps worktrees that lie inside their own repository out of its `git status` and `git add`. Idempotent;
 * elsewhere it does nothing.
 */
export async function hideFrom(repository: Repository, managedRoot: string): Promise<void> {
  const root = await realpathOfAny(managedRoot);
  if (repository.bare || !isBelow(repository.path, root)) return;
  await mkdir(root, { recursive: true, mode: 0o700 });
  await writeFile(join(root, ".gitignore"), "*\n", { mode: 0o600, flag: "wx" }).catch((error: unknown) => {
    if (!hasCode(error, "EEXIST")) throw error;
  });
}

/** The refusal of a place where something is. */
export function workspaceExists(path: string): AoError {
  return new AoError("workspace_exists", `something is at ${path} already`, {
    hint: `ls -la ${shellQuoted(path)}`,
    details: { path },
  });
}
