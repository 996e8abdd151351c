import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { saysNothing } from "./system-error.ts";

/** What it means that the system would not tell: of a place below the managed root, or of a repository. */
type UnseenCode = "data_dir_unusable" | "git_unavailable";

/**
 * What is at a path, a link not followed; `undefined` when nothing is.
 *
 * @throws AoError `code` when the system would not tell, for example for want of rights.
 */
export async function entryAt(
  path: string,
  code: UnseenCode = "data_dir_unusable",
): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (saysNothing(error)) return undefined;
    throw unseen(path, error, code);
  }
}

/** Names in a folder; none when there is no folder. @throws AoError `code` as `entryAt` */
export async function namesAt(
  folder: string,
  code: UnseenCode = "data_dir_unusable",
): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (saysNothing(error)) return [];
    throw unseen(folder, error, code);
  }
}

/** The system would not tell what is at a path: the third answer, which is neither yes nor no. */
export function unseen(path: string, cause: unknown, code: UnseenCode): AoError {
  const message = `${path} cannot be looked at: ${errorMessage(cause)}`;
  return new AoError(code, message, { details: { path }, cause });
}
