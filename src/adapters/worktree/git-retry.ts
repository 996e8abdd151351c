import { stat } from "node:fs/promises";
import { AoError } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import { type GitResult, gitFailed } from "./git-failure.ts";

const LOCK_FILE = /Unable to create '(.+?\.lock)': File exists/;
const LOCKED = /Unable to create '.+?\.lock': File exists|could not lock config file/;
/**
 * git reads the records of all worktrees for many commands and dies of one that another process is just
 * writing or removing (2.39.5, with fifty adds at once one in ten): `failed to read
 * .git/worktrees/app-3/commondir: Success`, `Invalid path '/src/app/.git/worktrees/app-3': No such file or
 * directory`. `update-ref`, `status` and `rev-list` never did.
 */
const HALF_WRITTEN =
  /failed to read .*worktrees\/[^/]+\/(commondir|gitdir|HEAD)|Invalid path '.*\/worktrees\/[^/']+'|could not create directory of '.*\/worktrees\//;
const PAUSES_MS = [20, 50, 100, 200, 400, 400, 400];

type Attempt = () => Promise<GitResult>;

/** Repeats a call that met the half-written record of another worktree; the last answer stands. */
export function retryHalfWritten(attempt: Attempt): Promise<GitResult> {
  return retryWhile(attempt, ({ stderr }) => HALF_WRITTEN.test(stderr));
}

/**
 * Repeats `attempt` while another git process holds a lock file or is making a worktree, up to about two
 * seconds, with jitter so that many at once do not march in step. From the second time on it is `again`.
 *
 * @throws AoError git_failed naming the lock file and its age when it is held to the end.
 */
export async function retryLocked(
  action: string,
  attempt: Attempt,
  again: Attempt = attempt,
): Promise<GitResult> {
  const isBusy = ({ stderr }: GitResult): boolean => LOCKED.test(stderr) || HALF_WRITTEN.test(stderr);
  const result = await retryWhile(attempt, isBusy, again);
  if (result.exitCode !== 0 && LOCKED.test(result.stderr)) throw await lockHeld(action, result.stderr);
  return result;
}

async function retryWhile(
  attempt: Attempt,
  isBusy: (result: GitResult) => boolean,
  again: Attempt = attempt,
): Promise<GitResult> {
  let result = await attempt();
  for (const pauseMs of PAUSES_MS) {
    if (result.exitCode === 0 || !isBusy(result)) return result;
    const jittered = pauseMs * (0.5 + Math.random());
    await new Promise((resolve) => setTimeout(resolve, jittered));
    result = await again();
  }
  return result;
}

async function lockHeld(action: string, stderr: string): Promise<AoError> {
  const file = LOCK_FILE.exec(stderr)?.[1];
  if (file === undefined) return gitFailed(action, stderr, "another git process holds a lock; try again");
  const age = await lockAge(file);
  return new AoError("git_failed", `git could not ${action}: ${file} is held${age}`, {
    hint: `when no git process is running there: rm ${shellQuoted(file)}`,
    details: { lockFile: file, stderr: stderr.slice(-4000) },
  });
}

/** ` for 12 s`, or nothing when the file is gone or cannot be looked at. */
export async function lockAge(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return "";
  const seconds = Math.max(0, Math.round((Date.now() - found.mtimeMs) / 1000));
  return ` for ${seconds} s`;
}
