import { rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { OperationId } from "../../../domain/operation.ts";
import type { AddedWorktree } from "../add-worktree.ts";
import { claimFolder } from "../claim-folder.ts";
import { type GitResult, gitComplaint, gitFailed } from "../git-failure.ts";
import type { Context } from "../place.ts";
import { ledAway } from "../planned-head.ts";
import type { Repository } from "../repository.ts";
import { inDirectory } from "../run-git.ts";
import { hasCheckoutHook } from "../snapshot-made.ts";
import { lockReason, readGitLink, type WorktreeRecord } from "../worktree-records.ts";
import { claimSpare, releaseSpare } from "./claim-spare.ts";
import { type Spare, sparesOf } from "./find-spares.ts";
import { spareState } from "./spare-state.ts";

export interface Adoption {
  readonly repository: Repository;
  /** Resolved path of an empty folder of ours, which the spare takes the place of. */
  readonly path: string;
  readonly projectId: string;
  /** A new branch at `baseCommit` that is checked out nowhere. */
  readonly branch: string;
  readonly baseCommit: string;
  readonly operationId: OperationId;
}

/**
 * Makes a worktree that was made ahead that of the operation: taken, seen to be as it was made and at the very
 * commit, moved to the path, put on the branch; it stays locked, as one that is added. `undefined` when there is
 * none that can be used; then the empty folder is there as before.
 *
 * @throws AoError git_failed when it was moved and could not be put on the branch; it is at the path then.
 */
export async function adoptSpare(context: Context, adoption: Adoption): Promise<AddedWorktree | undefined> {
  const { repository, projectId, baseCommit, operationId, path } = adoption;
  for (const spare of await sparesOf(context, repository, projectId)) {
    if (spare.mark.baseCommit !== baseCommit || (await lockReason(spare.record)) !== undefined) continue;
    if (!(await claimSpare(spare.record, operationId))) continue;
    if ((await isAsMade(context, spare)) && (await move(context, adoption, spare.record))) {
      const warnings = await putOnBranch(context, adoption, spare.record);
      return { record: { ...spare.record, path }, warnings };
    }
    await releaseSpare(spare.record, operationId);
  }
  return undefined;
}

/** What cannot be looked at is not used. */
async function isAsMade({ git }: Context, { record, mark }: Spare): Promise<boolean> {
  const state = await spareState(git, record.path).catch(() => undefined);
  return state === mark.state;
}

/**
 * `git worktree move` takes an empty folder for one to move into, so it goes first. A spare that was claimed is locked,
 * and only `--force` given twice moves a locked one (git-worktree(1), 2.39).
 */
async function move({ git }: Context, { repository, path, operationId }: Adoption, record: WorktreeRecord) {
  await rmdir(path).catch(() => undefined);
  const args = ["worktree", "move", "--force", "--force", "--", record.path, path];
  const result = await git.write(inDirectory(repository.path), args);
  if (result.exitCode === 0) return true;
  if (await finishMove(record.gitDir, path)) return true;
  await claimFolder(path).catch(async (error: unknown) => {
    await releaseSpare(record, operationId);
    throw error;
  });
  return false;
}

/** git moves the folder first and then writes down where it is; false when it did not come to the first. */
export async function finishMove(gitDir: string, path: string): Promise<boolean> {
  const there = await readGitLink(path);
  if (there.kind !== "link" || there.gitDir !== gitDir) return false;
  await writeFile(join(gitDir, "gitdir"), `${join(path, ".git")}\n`);
  return true;
}

/**
 * The branch is at the commit that is checked out, so nothing in the folder changes. A checkout hook is told of the
 * branch by a true checkout, which reads every file's state; without one HEAD alone is set.
 */
async function putOnBranch(
  { git }: Context,
  { path, branch, baseCommit }: Adoption,
  { gitDir }: WorktreeRecord,
): Promise<readonly string[]> {
  const note = `checkout: moving from ${baseCommit} to ${branch}`;
  const args = (await hasCheckoutHook(git, path))
    ? ["switch", "--quiet", "--no-guess", branch]
    : ["symbolic-ref", "-m", note, "HEAD", `refs/heads/${branch}`];
  const result = await git.write(inDirectory(path), args);
  if (result.exitCode === 0) return [];
  if ((await ledAway({ git, gitDir, branch })) !== undefined) throw notSwitched(path, result);
  return [`a git hook failed with ${result.exitCode}: ${gitComplaint(result.stderr)}`];
}

function notSwitched(path: string, { stderr }: GitResult): Error {
  return gitFailed(`put the worktree ${path} on its branch`, stderr);
}
