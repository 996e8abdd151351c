import { lstat, readdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorMessage } from "../../domain/errors.ts";
import type { LeftInTrash, SweptTrash } from "../../ports/swept-trash.ts";
import { readMarker } from "./marker.ts";
import { mountsBelow } from "./mounts.ts";
import { removeTree } from "./remove-tree.ts";
import { saysNothing } from "./system-error.ts";
import {
  discardedAtMs,
  goneName,
  leaveToSweep,
  listHeld,
  makingOf,
  type Trash,
  trashFolders,
} from "./trash.ts";
import { type GitLink, readGitLink } from "./worktree-records.ts";

/** Longer ago than this, whoever moved it there is not deleting it any more. */
const ABANDONED_AFTER_MS = 600_000;

/** Deletes a folder with all that is in it. @throws Error when something of it could not be deleted. */
export type RemoveTree = (path: string) => Promise<void>;

/**
 * Deletes a folder that `discard` returned. Links are removed, never followed, and nothing at all is deleted while
 * another file system is mounted in it.
 *
 * @throws Error when something of it could not be deleted.
 */
export async function deleteDiscarded(
  { mountTable }: Pick<Trash, "mountTable">,
  path: string,
  remove: RemoveTree = removeTree,
): Promise<void> {
  const [mounted] = await mountsBelow(path, mountTable);
  if (mounted !== undefined) throw new Error(`a file system is mounted at ${mounted}`);
  await remove(path);
}

/**
 * Deletes what interrupted runs have left to be deleted, a while ago so that it is surely nobody's work any
 * more. What resists is left for the next time.
 */
export async function sweepAbandoned(trash: Trash): Promise<void> {
  const isWanted = (name: string) => Date.now() - discardedAtMs(name) > ABANDONED_AFTER_MS;
  await sweep({ trash, remove: removeTree, isWanted });
}

/**
 * `Workspace.sweepTrash`: as `sweepAbandoned`, whatever its age, and what a removal was broken off over right after
 * its record was dropped.
 *
 * @throws AoError data_dir_unusable when it cannot be told what is there.
 */
export async function sweepTrash(trash: Trash, remove: RemoveTree = removeTree): Promise<SweptTrash> {
  const held = await attemptAll(await listHeld(trash), async (tree) => {
    if (await isForgotten(tree)) await leaveToSweep(tree);
    return false;
  });
  const swept = await sweep({ trash, remove, isWanted: () => true });
  return { deleted: swept.deleted, left: [...held.left, ...swept.left] };
}

/** Whether it was judged, and git has no record of it any more. */
async function isForgotten(tree: string): Promise<boolean> {
  const making = makingOf(basename(tree));
  if (making === undefined) return false;
  const link = await readGitLink(tree);
  if (link.kind !== "link") throw await unjudged(tree, link);
  const marker = await readMarker(link.gitDir);
  return marker?.sessionId !== making.sessionId || marker.createdAtMs !== making.createdAtMs;
}

/** @throws Error ENOENT when it is gone */
async function unjudged(tree: string, link: Exclude<GitLink, { readonly kind: "link" }>): Promise<Error> {
  await lstat(tree);
  const why = link.kind === "broken" ? link.cause : "another repository is there";
  return new Error(`nobody can tell whether git still knows it: ${why}`);
}

interface Sweep {
  readonly trash: Trash;
  readonly remove: RemoveTree;
  readonly isWanted: (name: string) => boolean;
}

async function sweep(sweeping: Sweep): Promise<SweptTrash> {
  let [deleted, left]: [number, readonly LeftInTrash[]] = [0, []];
  for (const folder of await trashFolders(sweeping.trash)) {
    const swept = await sweepFolder(sweeping, folder);
    deleted += swept.deleted;
    left = [...left, ...swept.left];
  }
  return { deleted, left };
}

async function sweepFolder({ trash, remove, isWanted }: Sweep, folder: string): Promise<SweptTrash> {
  const names: string[] = [];
  const listed = await attemptAll([folder], async () => {
    names.push(...(await readdir(folder)));
    return false;
  });
  const gone = names.filter((name) => name.endsWith(".gone") && isWanted(name)).sort();
  const swept = await attemptAll(
    gone.map((name) => join(folder, name)),
    (path) => takeAndRemove(trash, path, remove),
  );
  return { deleted: swept.deleted, left: [...listed.left, ...swept.left] };
}

/** Under a name of its own, so that two who sweep do not get in each other's way; what resists has its name again. */
async function takeAndRemove(trash: Trash, path: string, remove: RemoveTree): Promise<boolean> {
  const [mounted] = await mountsBelow(path, trash.mountTable);
  if (mounted !== undefined) throw new Error(`a file system is mounted at ${mounted}`);
  const [sessionId = ""] = basename(path).split(".");
  const own = join(dirname(path), goneName(sessionId, discardedAtMs(basename(path))));
  await rename(path, own);
  try {
    await deleteDiscarded(trash, own, remove);
  } catch (error) {
    await rename(own, path).catch(() => undefined);
    throw error;
  }
  return true;
}

/** One after the other; what one of them fails of stops no other, and what is gone has not failed. */
async function attemptAll(
  paths: readonly string[],
  work: (path: string) => Promise<boolean>,
): Promise<SweptTrash> {
  const left: LeftInTrash[] = [];
  let deleted = 0;
  for (const path of paths) {
    try {
      if (await work(path)) deleted += 1;
    } catch (error) {
      if (!saysNothing(error)) left.push({ path, why: errorMessage(error) });
    }
  }
  return { deleted, left };
}
