import type { Dirent } from "node:fs";
import { chmod, lstat, readdir, rmdir, unlink } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { hasCode, saysNothing } from "./system-error.ts";

const ATTEMPTS = 4;
const PAUSE_MS = 100;
const OWNER_BITS = 0o700;

/**
 * Deletes a folder with all that is in it on the file system with this device number, its own when none is given.
 * What is on another is not touched, however it came there. Links are removed, never followed. Others may delete
 * the same meanwhile.
 *
 * @throws Error when something of it could not be deleted; the rest is gone as far as it could.
 */
export async function removeTree(path: string | Buffer, device?: number): Promise<void> {
  const entry = await unlessGone(lstat(path));
  if (entry === undefined) return;
  if (device !== undefined && entry.dev !== device)
    throw new Error(`another file system is mounted at ${String(path)}`);
  if (!entry.isDirectory()) return void (await unlessGone(unlink(path)));
  // Package caches leave folders without write permission; what then resists tells so itself.
  if ((entry.mode & OWNER_BITS) !== OWNER_BITS) await chmod(path, OWNER_BITS).catch(() => undefined);
  await emptyAndRemove(path, entry.dev);
}

/** Who still works in it may put something there once more. */
async function emptyAndRemove(path: string | Buffer, device: number): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const entries = (await unlessGone(readdir(path, { withFileTypes: true, encoding: "buffer" }))) ?? [];
    await all(entries.map((entry) => removeEntry(path, entry, device)));
    try {
      return void (await unlessGone(rmdir(path)));
    } catch (error) {
      if (!hasCode(error, "ENOTEMPTY") || attempt === ATTEMPTS) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

/** Names need not be UTF-8. */
async function removeEntry(folder: string | Buffer, entry: Dirent<Buffer>, device: number): Promise<void> {
  const path = Buffer.concat([Buffer.from(folder), Buffer.from("/"), entry.name]);
  if (entry.isDirectory()) await removeTree(path, device);
  else await unlessGone(unlink(path));
}

/** Waits for all of them, so that nothing is deleted any more once it has failed. */
async function all(removals: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(removals)).find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

async function unlessGone<Result>(call: Promise<Result>): Promise<Result | undefined> {
  try {
    return await call;
  } catch (error) {
    if (saysNothing(error)) return undefined;
    throw error;
  }
}
