import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AoError } from "../../domain/errors.ts";
import type { OperationId } from "../../domain/operation.ts";
import { branchInUse } from "./branch-plan.ts";
import { isCommit, strangeAnswer } from "./git-answer.ts";
import { type GitResult, gitComplaint, gitFailed } from "./git-failure.ts";
import { retryLocked } from "./git-retry.ts";
import { lockReasonOf } from "./operation-marks.ts";
import type { Context } from "./place.ts";
import type { Repository } from "./repository.ts";
import { withRecords } from "./repository-lock.ts";
import { type Git, gitMissing, inDirectory, locationArgs } from "./run-git.ts";
import { type LongResult, runLong } from "./run-long.ts";
import { findRecord, readGitLink, type WorktreeRecord } from "./worktree-records.ts";

/** Of a git command that was called with an option it does not know (git 2.25 to 2.39). */
const USAGE_STATUS = 129;
/** What later versions write first, before the true one. */
const UNBORN_HEAD = "ref: refs/heads/.invalid\n";
const POLL_MS = 2;

export interface AddRequest extends Pick<Context, "git" | "locks" | "addTimeoutMs"> {
  readonly repository: Repository;
  /** Resolved path of an empty folder of ours. */
  readonly path: string;
  /** A local branch that is checked out nowhere, or a commit by its whole name, which is checked out on no branch. */
  readonly branch: string;
  /** With one, the worktree is left locked with its name as the reason. */
  readonly operationId: OperationId | null;
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
 * @throws AoError git_unavailable when it says that all is well and there is none.
 * @throws AoError git_failed otherwise; what was begun is left for the caller to remove.
 */
export async function addWorktree(request: AddRequest): Promise<AddedWorktree> {
  const { repository, path, branch } = request;
  const result = await retryLocked(
    `add a worktree for ${branch}`,
    () => runAdd(request, startAdd),
    () => runAdd(request, startAlone),
  );
  const record = await findRecord(repository.commonDir, path);
  if (result.exitCode === 0 && record !== undefined) return { record, warnings: [] };
  if (record !== undefined && (await isComplete(request))) {
    const warning = `a git hook failed with ${result.exitCode}: ${gitComplaint(result.stderr)}`;
    return { record, warnings: [warning] };
  }
  if (result.exitCode === 0) throw strangeAnswer(`add a worktree for ${branch}`, "");
  throw await explain(request, result.stderr);
}

type Start = (request: AddRequest, lock: readonly string[]) => Promise<Running>;

/** In an object, so that who waits for the start does not wait for the end. */
interface Running {
  readonly end: Promise<LongResult>;
}

async function runAdd(request: AddRequest, start: Start): Promise<GitResult> {
  const { operationId } = request;
  const lock = operationId === null ? [] : ["--lock", "--reason", lockReasonOf(operationId)];
  const result = await endOf(request, await start(request, lock));
  const isOlder = result.exitCode === USAGE_STATUS && result.stderr.includes("unknown option `reason'");
  return isOlder ? endOf(request, await start(request, ["--lock"])) : result;
}

async function startAdd(request: AddRequest, lock: readonly string[]): Promise<Running> {
  const { git, repository, path, branch, addTimeoutMs } = request;
  const options = ["worktree", "add", "--quiet", ...lock, "--", path, branch];
  const end = runLong({
    program: git.program,
    args: [...locationArgs(inDirectory(repository.path)), ...options],
    cwd: "/",
    env: git.env,
    timeoutMs: addTimeoutMs,
  });
  return { end };
}

/** The checkout, which may take long, goes on while the next one begins: only the record needs care. */
function startAlone(request: AddRequest, lock: readonly string[]): Promise<Running> {
  return withRecords(request.locks, request.repository, async () => {
    const running = await startAdd(request, lock);
    await recordIsWhole(request.path, running.end);
    return running;
  });
}

async function endOf({ git, addTimeoutMs }: AddRequest, { end }: Running): Promise<GitResult> {
  const result = await end;
  return { exitCode: exitCodeOf(git, result, addTimeoutMs), stdout: "", stderr: outputOfRun(result) };
}

/** git writes HEAD last, when all of the record is there; then it fills the folder (2.39.5). */
async function recordIsWhole(path: string, running: Promise<unknown>): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  running.then(end, end);
  while (!isOver && !(await hasBranch(path))) await sleep(POLL_MS);
}

async function hasBranch(path: string): Promise<boolean> {
  const link = await readGitLink(path);
  if (link.kind !== "link") return false;
  const head = await readFile(join(link.gitDir, "HEAD"), "utf8").catch(() => "");
  return (
    (head.startsWith("ref: refs/heads/") && head !== UNBORN_HEAD) || /^(?!0+$)[0-9a-f]{40,}$/m.test(head)
  );
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

/**
 * On the branch, or on none when a commit was asked for, with an index that equals its commit and no file of it
 * missing.
 */
async function isComplete({ git, path, branch }: AddRequest): Promise<boolean> {
  const where = inDirectory(path);
  const [head, index, missing] = await Promise.all([
    git.read(where, ["symbolic-ref", "--quiet", "HEAD"]),
    git.read(where, ["diff-index", "--cached", "--quiet", "HEAD", "--"]),
    git.read(where, ["ls-files", "--deleted"]),
  ]);
  const wanted = isCommit(branch) ? "" : `refs/heads/${branch}`;
  const onBranch = head.stdout.trim() === wanted;
  return onBranch && index.exitCode === 0 && missing.exitCode === 0 && missing.stdout === "";
}

async function explain({ repository, branch }: AddRequest, stderr: string): Promise<AoError> {
  const holder = /(?:already checked out|already used by worktree) at '(.+)'/.exec(stderr)?.[1];
  if (holder !== undefined) return branchInUse(repository, branch, holder);
  if (stderr.includes("invalid reference: ")) {
    return new AoError("branch_missing", `branch ${branch} is gone since it was looked for`, {
      details: { branch },
    });
  }
  return gitFailed(`add a worktree for ${branch}`, stderr);
}
