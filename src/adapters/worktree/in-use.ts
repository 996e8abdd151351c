import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../domain/errors.ts";
import type { ProcessTable, ProcessUse } from "../../ports/process-table.ts";
import type { Found } from "./findings.ts";
import type { Context } from "./place.ts";
import { isBelow, realpathOfAny } from "./safe-path.ts";
import { trashFolders } from "./trash.ts";

interface Looking {
  readonly processes: Pick<ProcessTable, "usersOf">;
}

const LOOKS = 5;
const PAUSE_MS = 100;

/**
 * The processes that use a folder. A git that only looks, ours or that of another `ao`, works in it for a
 * moment and is waited for, and so is an `ao` that reads where its `.git` leads to. `seen` is an earlier look at more than this folder.
 */
export async function inUse(
  { processes }: Looking,
  folder: string,
  seen?: readonly ProcessUse[],
): Promise<Found> {
  try {
    const real = await realpath(folder);
    let users = seen === undefined ? await processes.usersOf(real) : usersWithin(seen, real);
    const looksOnly = (use: ProcessUse) => isGit(use) || readsLink(use, real);
    for (let look = 1; look < LOOKS && users.length > 0 && users.every(looksOnly); look += 1) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      users = await processes.usersOf(real);
    }
    return { in_use: users.map((user) => describe(user, real)) };
  } catch (error) {
    return { unreadable: [`processes in it: ${errorMessage(error)}`] };
  }
}

/** The processes that use anything at all below the managed root, or on its way out of it. */
export async function usersOfAll({
  processes,
  managedRoot,
  trash,
}: Pick<Context, "managedRoot" | "trash"> & Looking): Promise<readonly ProcessUse[]> {
  const roots = await Promise.all([managedRoot, ...(await trashFolders(trash))].map(realpathOfAny));
  const outermost = roots.filter((root) => !roots.some((other) => isBelow(other, root)));
  return (await Promise.all([...new Set(outermost)].map((root) => processes.usersOf(root)))).flat();
}

function usersWithin(seen: readonly ProcessUse[], folder: string): readonly ProcessUse[] {
  return seen
    .map((use) => ({ ...use, paths: use.paths.filter((path) => path === folder || isBelow(folder, path)) }))
    .filter(({ paths }) => paths.length > 0);
}

const isGit = ({ command }: ProcessUse): boolean => /^(\S*\/)?git(\s|$)/.test(command);

function readsLink({ paths }: ProcessUse, folder: string): boolean {
  return paths.every((path) => path === join(folder, ".git"));
}

function describe({ pid, command, paths }: ProcessUse, folder: string): string {
  const [first = folder] = paths;
  return first === folder ? `${pid} ${command}` : `${pid} ${command} in ${first.slice(folder.length + 1)}`;
}
