import { open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AoError } from "../../../domain/errors.ts";
import { type Git, inDirectory } from "../run-git.ts";
import { hasCode } from "../trash.ts";
import type { Plumbing } from "./plumbing.ts";

/**
 * Makes `index` the index of the worktree, as git itself replaces one: under its lock, and whole.
 *
 * @param folder for a draft.
 * @throws AoError busy when another git holds the lock.
 */
export async function putIndex(plumbing: Plumbing, index: Buffer, folder: string): Promise<void> {
  const draft = join(folder, "new-index");
  await writeFile(draft, index, { mode: 0o600 });
  const path = join(plumbing.gitDir, "index");
  await (await lock(`${path}.lock`)).close();
  try {
    await sync(draft);
    await rename(draft, path);
  } finally {
    await rm(`${path}.lock`, { force: true });
  }
}

async function lock(path: string) {
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    throw new AoError("busy", `the index was not put back: ${path} is held`, {
      hint: `when no git process is running there: rm '${path}'`,
      details: { lockFile: path },
      cause: error,
    });
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Has git look at the files, by the user's own settings, so that it need not do so each time. A courtesy. */
export async function refreshIndex(git: Git, root: string): Promise<void> {
  const args = ["update-index", "-q", "--refresh", "--unmerged", "--ignore-missing"];
  // It exits with 1 when files differ from the index, as changed ones do.
  const looked = git.write(inDirectory(root), ["-c", "core.hooksPath=/dev/null", ...args]);
  await looked.catch(() => undefined);
}
