import { copyFile, readFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { gitFailed } from "../git-failure.ts";
import { hasCode } from "../system-error.ts";
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
  const plain = readIndexFile(await readFile(path), format);
  if (plain !== undefined) return { plumbing: own, content: plain };
  await own.tell("read the index", ["update-index", "--index-version", "2", "--no-split-index"]);
  const content = readIndexFile(await readFile(path), format);
  if (content === undefined) throw gitFailed("read the index", "it is of a form that is not known");
  return { plumbing: own, content };
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
