import { AoError } from "../../domain/errors.ts";
import { branchInUse } from "./branch-plan.ts";
import { gitComplaint, gitFailed } from "./git-failure.ts";
import { retryLocked } from "./git-retry.ts";
import type { Repository } from "./repository.ts";
import { type Git, gitMissing, inDirectory, locationArgs } from "./run-git.ts";
import { type LongResult, runLong } from "./run-long.ts";
import { findRecord, type WorktreeRecord } from "./worktree-records.ts";

export interface AddRequest {
  readonly git: Git;
  readonly repository: Repository;
  /** Resolved path of an empty folder of ours. */
  readonly path: string;
  /** A local branch that is checked out nowhere. */
  readonly branch: string;
  readonly timeoutMs: number;
}

export interface AddedWorktree {
  readonly record: WorktreeRecord;
  readonly warnings: readonly string[];
}

/**
 * Checks the branch out at the path. A post-checkout hook's exit status becomes git's own although the
 * worktree is complete (2.39.5), so after a failure what is there decides: a complete one is a warning.
 *
 * @throws AoError branch_in_use when another worktree has the branch by now.
 * @throws AoError git_failed otherwise; what was begun is left for the caller to remove.
 */
export async function addWorktree(request: AddRequest): Promise<AddedWorktree> {
  const { repository, path, branch } = request;
  const result = await retryLocked(`add a worktree for ${branch}`, () => runAdd(request));
  const record = await findRecord(repository.commonDir, path);
  if (result.exitCode === 0 && record !== undefined) return { record, warnings: [] };
  if (record !== undefined && (await isComplete(request))) {
    const warning = `a git hook failed with ${result.exitCode}: ${gitComplaint(result.stderr)}`;
    return { record, warnings: [warning] };
  }
  throw await explain(request, result.stderr);
}

async function runAdd({ git, repository, path, branch, timeoutMs }: AddRequest) {
  const result = await runLong({
    program: git.program,
    args: [...locationArgs(inDirectory(repository.path)), "worktree", "add", "--quiet", "--", path, branch],
    cwd: "/",
    env: git.env,
    timeoutMs,
  });
  return { exitCode: exitCodeOf(git, result, timeoutMs), stdout: "", stderr: outputOfRun(result) };
}

function exitCodeOf(git: Git, result: LongResult, timeoutMs: number): number {
  if (result.kind === "not_started") throw gitMissing(git.program, result.cause);
  if (result.kind === "ended") return result.exitCode ?? 1;
  throw new AoError("git_failed", `git worktree add was ended after ${timeoutMs / 1000} s`, {
    hint: "a slow post-checkout hook or filter? try `git worktree add` by hand",
    details: { output: result.output },
  });
}

const outputOfRun = (result: LongResult): string => (result.kind === "not_started" ? "" : result.output);

/** On the branch, with an index that equals its commit and no file of it missing. */
async function isComplete({ git, path, branch }: AddRequest): Promise<boolean> {
  const where = inDirectory(path);
  const [head, index, missing] = await Promise.all([
    git.read(where, ["symbolic-ref", "--quiet", "HEAD"]),
    git.read(where, ["diff-index", "--cached", "--quiet", "HEAD", "--"]),
    git.read(where, ["ls-files", "--deleted"]),
  ]);
  const onBranch = head.stdout.trim() === `refs/heads/${branch}`;
  return onBranch && index.exitCode === 0 && missing.exitCode === 0 && missing.stdout === "";
}

async function explain({ repository, branch }: AddRequest, stderr: string): Promise<AoError> {
  const holder = /(?:already checked out|already used by worktree) at '(.+)'/.exec(stderr)?.[1];
  if (holder !== undefined) return branchInUse(repository, branch, holder);
  return gitFailed(`add a worktree for ${branch}`, stderr);
}
