import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const PREFIX = "ao-salvage-";
/** Nobody is at work in one that is older. */
const ABANDONED_AFTER_MS = 24 * 3_600_000;

/**
 * Runs `work` with a folder of its own in a worktree's private git directory, where neither the worktree nor
 * git notices it. One that a crash left goes with the worktree, or with the next `work` a day later.
 */
export async function withTempFolder<Result>(
  gitDir: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  await removeAbandoned(gitDir);
  const folder = join(gitDir, `${PREFIX}${randomUUID()}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function removeAbandoned(gitDir: string): Promise<void> {
  const names = await readdir(gitDir).catch((): string[] => []);
  for (const name of names.filter((entry) => entry.startsWith(PREFIX))) {
    const folder = join(gitDir, name);
    const found = await stat(folder).catch(() => undefined);
    const isOld = found !== undefined && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS;
    if (isOld) await rm(folder, { recursive: true, force: true });
  }
}
