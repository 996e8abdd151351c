import { constants } from "node:fs";
import { copyFile, link, open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AoError } from "../../../domain/errors.ts";
import { shellQuoted } from "../../../domain/shell-quoted.ts";
import type { FaultPoint } from "../../../ports/fault-point.ts";
import { type Git, inDirectory } from "../run-git.ts";
import { hasCode } from "../system-error.ts";
import type { Plumbing } from "./plumbing.ts";

export interface PuttingIndex {
  readonly plumbing: Pick<Plumbing, "gitDir">;
  readonly index: Buffer;
  /** For a draft; on the file system of the git directory. */
  readonly folder: string;
  readonly boundary: FaultPoint;
}

/**
 * Makes `index` the index of the worktree as git itself replaces one: whole, and under its lock. The lock is the
 * new index itself, so that one left by a put-back that was broken off is known by its content.
 *
 * @throws AoError busy when another git holds the lock.
 */
export async function putIndex({ plumbing, index, folder, boundary }: PuttingIndex): Promise<void> {
  const draft = join(folder, "new-index");
  await writeFile(draft, index, { mode: 0o600 });
  await sync(draft);
  const path = join(plumbing.gitDir, "index");
  const lock = `${path}.lock`;
  // Where there are no hard links a copy does, which a crash may leave half-written: then a person has to look.
  const claimed = link(draft, lock).catch(() => copyFile(draft, lock, constants.COPYFILE_EXCL));
  await claimed.catch(async (error: unknown) => {
    if (!hasCode(error, "EEXIST")) throw error;
    if (!(await readFile(lock)).equals(index)) throw held(lock, error);
  });
  await boundary("put_back.index:locked");
  await rename(lock, path);
}

async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function held(lockFile: string, cause: unknown): AoError {
  return new AoError("busy", `the index was not put back: ${lockFile} is held`, {
    hint: `when no git process is running there: rm ${shellQuoted(lockFile)}`,
    details: { lockFile },
    cause,
  });
}

/** Has git look at the files, by the user's own settings, so that it need not do so each time. A courtesy. */
export async function refreshIndex(git: Git, root: string): Promise<void> {
  const args = ["update-index", "-q", "--refresh", "--unmerged", "--ignore-missing"];
  // It exits with 1 when files differ from the index, as changed ones do.
  const looked = git.write(inDirectory(root), ["-c", "core.hooksPath=/dev/null", ...args]);
  await looked.catch(() => undefined);
}
