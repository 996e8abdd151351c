import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage, isAoError } from "../../domain/errors.ts";
import { entryAt } from "./entry-at.ts";
import { type Found, mergeFound } from "./findings.ts";
import { commitOrNone } from "./git-answer.ts";
import { outputOf } from "./git-failure.ts";
import { lockAge } from "./git-retry.ts";
import { inspectDrafts } from "./inspect-drafts.ts";
import { inspectModules } from "./inspect-modules.ts";
import { lostCommits } from "./lost-commits.ts";
import type { Git, GitLocation } from "./run-git.ts";
import { lockReason, type WorktreeRecord } from "./worktree-records.ts";

/** Files of a private git directory that exist while an operation waits to be finished (git 2.39.5). */
const UNDER_WAY: readonly (readonly [string, string])[] = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase or am"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["sequencer", "cherry-pick or revert of several commits"],
  ["BISECT_LOG", "bisect"],
  ["NOTES_MERGE_PARTIAL", "merge of notes"],
];

const LOOKS = 40;
const PAUSE_MS = 50;

/** What the private git directory of a worktree says: what waits to be finished, its lock, git at work. */
export async function inspectGitDir(record: WorktreeRecord): Promise<Found> {
  const [reason, names] = await Promise.all([lockReason(record), readdir(record.gitDir)]);
  const held = names.filter((name) => name.endsWith(".lock")).map((name) => join(record.gitDir, name));
  return {
    operation_in_progress: UNDER_WAY.filter(([file]) => names.includes(file)).map(([, name]) => name),
    locked: reason === undefined ? [] : [reason || "locked"],
    unreadable: await Promise.all(held.map(async (file) => `${file} is held${await lockAge(file)}`)),
  };
}

/**
 * What git still has of a worktree whose folder somebody deleted: commits that nothing else holds, what was
 * staged, what waits to be finished, the repositories of its submodules.
 */
export async function inspectRecord(git: Git, record: WorktreeRecord): Promise<Found> {
  const where: GitLocation = { kind: "git_dir", gitDir: record.gitDir, workTree: null };
  const commits = async (head: string | null): Promise<Found> => ({
    unreachable_commits: await lostCommits(git, record.gitDir, head),
  });
  const looks = [
    async () => commits(await headOf(git, where)),
    async () => ({ staged: await stagedIn(git, where, record) }),
    () => inspectModules(git, record.gitDir),
    () => inspectDrafts(git, record),
    // Nobody makes an index for files that are gone, so a lock file in it is left over.
    async () => ({ ...(await inspectGitDir(record)), unreadable: [] }),
  ];
  const found = (await Promise.all(looks.map(readable))).reduce(mergeFound);
  if (found.unreadable?.length !== 0) await untilDropped(record);
  return found;
}

/** What cannot be read may just be dropped by another process, file by file: the caller then sees it gone. */
async function untilDropped({ gitDir }: WorktreeRecord): Promise<void> {
  for (let look = 0; look < LOOKS && (await entryAt(gitDir, "git_unavailable")) !== undefined; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function headOf(git: Git, where: GitLocation): Promise<string | null> {
  const result = await git.read(where, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  return commitOrNone(result, "tell the commit of HEAD") ?? null;
}

/** An index that was never written, as when a checkout was broken off, holds nothing. */
async function stagedIn(git: Git, where: GitLocation, record: WorktreeRecord): Promise<readonly string[]> {
  if (!(await readdir(record.gitDir)).includes("index")) return [];
  const head = await headOf(git, where);
  const args =
    head === null
      ? ["ls-files", "-z"]
      : ["diff-index", "--cached", "--no-renames", "--name-only", "-z", "--ignore-submodules=none", head];
  const result = await git.read(where, args);
  return outputOf(result, "read what is staged").split("\0").filter(Boolean);
}

/**
 * A look that failed is a finding.
 *
 * @throws AoError git_unavailable: a git that cannot be asked at all is an error.
 */
export async function readable(look: () => Promise<Found>): Promise<Found> {
  try {
    return await look();
  } catch (error) {
    if (isAoError(error, "git_unavailable")) throw error;
    return { unreadable: [errorMessage(error)] };
  }
}
