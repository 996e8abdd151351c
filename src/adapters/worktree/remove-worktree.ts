import { rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import { entryAt } from "./entry-at.ts";
import { gitFailed } from "./git-failure.ts";
import { filesLeft } from "./leftover.ts";
import type { Context } from "./place.ts";
import type { Repository } from "./repository.ts";
import { inDirectory } from "./run-git.ts";
import { isBelow, realpathOfAny } from "./safe-path.ts";
import { deleteDiscarded, sweepAbandoned } from "./sweep-trash.ts";
import { hasCode } from "./system-error.ts";
import { discard, leaveToSweep, letGo, putBack } from "./trash.ts";
import { findRecord, lockReason, type WorktreeRecord } from "./worktree-records.ts";

/**
 * Drops what git remembers of a worktree whose folder is gone, of this one only, and sees to it that it is
 * dropped. Idempotent. With its folder missing, `git worktree remove` takes nothing but the record
 * (checked with 2.39.5), while `prune` would take those of strangers.
 *
 * @throws AoError git_failed when git keeps it, for example locked.
 */
async function dropRecord({ git, repository }: Removal, record: WorktreeRecord): Promise<void> {
  if ((await entryAt(record.path)) !== undefined)
    throw gitFailed(`forget ${record.path}`, "something is there again");
  const args = ["worktree", "remove", "--", record.path];
  const answer = await git.write(inDirectory(repository.path), args).catch((error: unknown) => ({ error }));
  if ((await entryAt(record.gitDir, "git_unavailable")) === undefined) return;
  if ("error" in answer) throw answer.error;
  const isLocked = (await lockReason(record)) !== undefined;
  const unlock = `git -C ${shellQuoted(repository.path)} worktree unlock ${shellQuoted(record.path)}`;
  throw gitFailed(`forget the worktree ${record.path}`, answer.stderr, isLocked ? unlock : undefined);
}

export interface Removal extends FolderRemoval, Pick<Context, "git"> {
  readonly repository: Repository;
}

export interface FolderRemoval extends Pick<Context, "trash" | "managedRoot"> {
  readonly sessionId: string;
  /** Resolved path that git knows it by. */
  readonly path: string;
}

export interface Leaving extends Removal {
  /** As the worktree's marker says. */
  readonly createdAtMs: number;
}

/**
 * Takes away a worktree that was judged and may go: the folder at `tree` into the trash, then the record. When git
 * keeps the record the folder goes to where git knows it. One that is broken off is told by where the folder lies.
 *
 * @returns where its files wait to be deleted; `undefined` when nothing was at `tree` any more and so nothing was done.
 * @throws AoError git_failed when git keeps the record, git_unavailable when it could not be asked.
 * @throws AoError teardown_incomplete when it could not be moved; `details.left` names where it is.
 */
export async function takeAway(leaving: Leaving, tree: string): Promise<string | undefined> {
  const going = await movedAway(leaving, tree, () => letGo(leaving.trash, leaving, tree));
  if (going === undefined) return undefined;
  try {
    await forgetWorktree(leaving);
  } catch (error) {
    throw await broughtBack(leaving, going, error);
  }
  return finishedGoing(going);
}

/** The last step of `takeAway`; another process may have done it. */
export async function finishedGoing(going: string): Promise<string> {
  return leaveToSweep(going).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return going;
    throw error;
  });
}

/**
 * Removes a worktree that nobody has worked in: the folder at `tree` out of the way, the record, then the
 * files. When git keeps the record the folder goes to where git knows it.
 *
 * @returns false when nothing was at `tree` any more and so nothing was done.
 * @throws AoError git_failed when git keeps the record, git_unavailable when it could not be asked.
 * @throws AoError teardown_incomplete when files could not be moved or deleted; `details.left` names where they are.
 */
export async function removeWorktree(removal: Removal, tree: string): Promise<boolean> {
  const gone = await discardIfThere(removal, tree);
  if (gone === undefined) return false;
  try {
    await forgetWorktree(removal);
  } catch (error) {
    throw await broughtBack(removal, gone, error);
  }
  await deleteFiles(removal, gone);
  return true;
}

/** The error to throw: the failure itself when all is as it was, with where the files are when it is not. */
async function broughtBack({ path }: FolderRemoval, gone: string, error: unknown): Promise<unknown> {
  try {
    await putBack(gone, path);
    return error;
  } catch (cause) {
    const message = `${errorMessage(error)}; nobody needs its files, which lie in the trash at ${gone}`;
    const details = { path, left: [filesLeft(gone, cause)] };
    return new AoError("teardown_incomplete", message, { hint: "try again", details, cause: error });
  }
}

/**
 * Removes a folder of ours whose content nobody needs: out of the way, then for good. What git remembers is
 * the caller's business.
 *
 * @throws AoError teardown_incomplete as `removeWorktree`.
 */
export async function removeFolder(removal: FolderRemoval, tree: string): Promise<void> {
  const gone = await discardIfThere(removal, tree);
  if (gone !== undefined) await deleteFiles(removal, gone);
}

/**
 * Deletes what was moved into the trash, and what others have left there.
 *
 * @throws AoError teardown_incomplete when something of it could not be deleted.
 */
export async function deleteFiles(
  { trash, path }: Pick<FolderRemoval, "trash" | "path">,
  gone: string,
): Promise<void> {
  await sweepAbandoned(trash);
  try {
    await deleteDiscarded(trash, gone);
  } catch (cause) {
    const message = `${path} is gone, but files that nobody needs could not be deleted: they are at ${gone}`;
    throw new AoError("teardown_incomplete", `${message}: ${errorMessage(cause)}`, {
      hint: "once nothing is in the way there: ao reconcile",
      details: { path, left: [filesLeft(gone, cause)] },
      cause,
    });
  }
}

/**
 * Drops the record of a worktree whose folder is gone, and the empty folders around it. Idempotent.
 *
 * @throws AoError git_failed when git keeps the record.
 */
export async function forgetWorktree(removal: Removal): Promise<void> {
  const { repository, path } = removal;
  await rmdir(path).catch(() => undefined);
  const record = await findRecord(repository.commonDir, path);
  if (record !== undefined) await dropRecord(removal, record);
  await removeEmptyFolders(await realpathOfAny(removal.managedRoot), dirname(path));
}

function discardIfThere(removal: FolderRemoval, tree: string): Promise<string | undefined> {
  return movedAway(removal, tree, () => discard(removal.trash, removal.sessionId, tree));
}

/** `undefined` when another process that frees the same worktree was first. */
async function movedAway(
  removal: FolderRemoval,
  tree: string,
  move: () => Promise<string>,
): Promise<string | undefined> {
  try {
    return await move();
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw new AoError(
      "teardown_incomplete",
      `${tree} could not be moved into the trash: ${errorMessage(error)}`,
      {
        details: { path: removal.path, left: [filesLeft(tree, error)] },
        cause: error,
      },
    );
  }
}

/** From `folder` upward, as long as they are empty and below the managed root. */
export async function removeEmptyFolders(managedRoot: string, folder: string): Promise<void> {
  if (!isBelow(managedRoot, folder)) return;
  const removed = await rmdir(folder).then(
    () => true,
    () => false,
  );
  if (removed) await removeEmptyFolders(managedRoot, dirname(folder));
}
