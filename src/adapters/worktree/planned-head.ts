import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { lineOrNone } from "./git-answer.ts";
import type { Git } from "./run-git.ts";

const LOCAL = "refs/heads/";

/** A worktree that is to be on a branch, or on none. */
export interface PlannedHead {
  readonly git: Git;
  /** Its private git directory. */
  readonly gitDir: string;
  readonly branch: string | null;
}

/**
 * Where a hook or a command led the worktree away from its branch, as one clause; `undefined` while it is on it.
 *
 * @throws AoError git_failed, git_unavailable when that cannot be told.
 */
export async function ledAway({ git, gitDir, branch }: PlannedHead): Promise<string | undefined> {
  const wanted = branch === null ? undefined : `${LOCAL}${branch}`;
  // Read without git in the usual case; a reftable has another text there, and git is asked.
  const text = await readFile(join(gitDir, "HEAD"), "utf8").catch(() => "");
  if (wanted !== undefined && text === `ref: ${wanted}\n`) return undefined;
  const where = { kind: "git_dir", gitDir, workTree: null } as const;
  const answer = await git.read(where, ["symbolic-ref", "--quiet", "HEAD"]);
  const ref = lineOrNone(answer, "tell the branch that is checked out");
  if (ref === wanted) return undefined;
  if (branch !== null && ref === undefined) return `off branch ${branch}, to no branch`;
  return `from ${branch === null ? "no branch" : `branch ${branch}`} to ${shortName(ref ?? "no branch")}`;
}

const shortName = (ref: string): string => (ref.startsWith(LOCAL) ? ref.slice(LOCAL.length) : ref);
