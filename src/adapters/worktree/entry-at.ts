import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { saysNothing } from "./trash.ts";

/**
 * What is at a path, a link not followed; `undefined` when nothing is.
 *
 * @throws AoError git_failed when the system would not tell, for example for want of rights.
 */
export async function entryAt(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (saysNothing(error)) return undefined;
    throw unseen(path, error);
  }
}

/** Names in a folder; none when there is no folder. @throws AoError git_failed as `entryAt` */
export async function namesAt(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (saysNothing(error)) return [];
    throw unseen(folder, error);
  }
}

function unseen(path: string, cause: unknown): AoError {
  const message = `${path} cannot be looked at: ${errorMessage(cause)}`;
  return new AoError("git_failed", message, { details: { path }, cause });
}
