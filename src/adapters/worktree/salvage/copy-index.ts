import { copyFile, readFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../trash.ts";
import { type IndexContent, type ObjectFormat, readIndexFile } from "./index-file.ts";
import type { Plumbing } from "./plumbing.ts";

export interface CopiedIndex {
  /** git's plumbing with the copy as its index. */
  readonly plumbing: Plumbing;
  readonly content: IndexContent;
}

export interface IndexCopy {
  readonly plumbing: Plumbing;
  readonly format: ObjectFormat;
  /** Where the copy is to be. */
  readonly path: string;
}

/**
 * Copies the index of a worktree, one whole file of version 2 or 3 whatever it was. git's memory of the files
 * comes along, so that unchanged ones need not be read. A worktree without an index has an empty one.
 *
 * @throws AoError git_failed when the index cannot be read.
 */
export async function copyIndex({ plumbing, format, path }: IndexCopy): Promise<CopiedIndex> {
  const own = plumbing.withEnv({ GIT_INDEX_FILE: path });
  if (!(await copyOf(join(plumbing.gitDir, "index"), path))) await makeEmpty(own);
  const whole = ["update-index", "--index-version", "2", "--no-split-index", "--no-untracked-cache"];
  await own.tell("read the index", whole);
  return { plumbing: own, content: readIndexFile(await readFile(path), format) };
}

/** An index without any entry. */
export async function makeEmpty(plumbing: Plumbing): Promise<void> {
  await plumbing.tell("make an index", ["read-tree", "--empty"]);
}

/**
 * git takes a file that changed no earlier than its index was written for possibly changed; so the copy must
 * not be younger than the index is.
 */
async function copyOf(index: string, path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(index);
    await copyFile(index, path);
    const seconds = Math.floor(mtimeMs - 1) / 1000;
    await utimes(path, seconds, seconds);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}
