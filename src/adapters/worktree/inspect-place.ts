import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage, isAoError } from "../../domain/errors.ts";
import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import type { ProcessTable, ProcessUse } from "../../ports/process-table.ts";
import { type Found, mergeFound, toFindings } from "./findings.ts";
import { lockAge } from "./git-retry.ts";
import { inspectFiles, inspectModules } from "./inspect-files.ts";
import { lostCommits } from "./lost-commits.ts";
import type { Marker } from "./marker.ts";
import type { Context, Owned, Place } from "./place.ts";
import { isAsPut } from "./put-files.ts";
import { type Git, type GitLocation, inDirectory } from "./run-git.ts";
import { lockReason, type WorktreeRecord } from "./worktree-records.ts";

type Looking = Pick<Context, "git"> & { readonly processes: Pick<ProcessTable, "usersOf"> };

/** Files of a private git directory that exist while an operation waits to be finished (git 2.39.5). */
const UNDER_WAY: readonly (readonly [string, string])[] = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase or am"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["sequencer", "cherry-pick or revert of several commits"],
  ["BISECT_LOG", "bisect"],
];

const LOCK_FILES = ["index.lock", "HEAD.lock"];
const LOOKS_AT_USERS = 5;
const PAUSE_MS = 100;

/** Everything that would be lost with what is at the place. Changes nothing. */
export async function inspectPlace(looking: Looking, place: Place): Promise<readonly WorkspaceFinding[]> {
  switch (place.kind) {
    case "gone":
      return toFindings(place.record === undefined ? {} : await inspectRecord(looking.git, place.record));
    case "unreadable":
      return toFindings(mergeFound({ unreadable: [place.cause] }, await usersOf(looking, place.path)));
    case "standing": {
      const { path, owned } = place;
      const files = { root: path, where: inDirectory(path), submodules: true };
      return inspectTree(looking, owned, files);
    }
    case "held":
      return inspectHeld(looking, place.owned, place.tree);
  }
}

/**
 * The same for a worktree that was moved aside. git finds it by its private directory; submodules no more,
 * their links being relative, so the look before the move has to do for them.
 */
export function inspectHeld(
  looking: Looking,
  owned: Owned,
  tree: string,
): Promise<readonly WorkspaceFinding[]> {
  const where: GitLocation = { kind: "git_dir", gitDir: owned.record.gitDir, workTree: tree };
  return inspectTree(looking, owned, { root: tree, where, submodules: false });
}

interface Files {
  readonly root: string;
  readonly where: GitLocation;
  readonly submodules: boolean;
}

async function inspectTree(
  looking: Looking,
  owned: Owned,
  files: Files,
): Promise<readonly WorkspaceFinding[]> {
  const { record, marker } = owned;
  const parts = await Promise.all([
    readable(() => inspectContent(looking.git, record, files)),
    readable(() => inspectModules(looking.git, record.gitDir)),
    inspectGitDir(record),
  ]);
  const work = await withoutPut(files.root, marker, parts.reduce(mergeFound));
  return toFindings(mergeFound(work, await usersOf(looking, files.root)));
}

async function inspectContent(git: Git, record: WorktreeRecord, files: Files): Promise<Found> {
  const { found, head } = await inspectFiles(git, files);
  return mergeFound(found, { unreachable_commits: await lostCommits(git, record.gitDir, head) });
}

/** Of a folder that somebody deleted git still has the commits that nothing else holds. */
async function inspectRecord(git: Git, record: WorktreeRecord): Promise<Found> {
  const where: GitLocation = { kind: "git_dir", gitDir: record.gitDir, workTree: null };
  const commits = async (): Promise<Found> => {
    const { exitCode, stdout } = await git.read(where, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
    const head = exitCode === 0 ? stdout.trim() : null;
    return { unreachable_commits: await lostCommits(git, record.gitDir, head) };
  };
  const reason = await lockReason(record);
  return mergeFound(await readable(commits), reason === undefined ? {} : { locked: [reason || "locked"] });
}

async function inspectGitDir(record: WorktreeRecord): Promise<Found> {
  const reason = await lockReason(record);
  const operations: string[] = [];
  for (const [file, name] of UNDER_WAY) {
    if (await exists(join(record.gitDir, file))) operations.push(name);
  }
  const held: string[] = [];
  for (const name of LOCK_FILES) {
    const file = join(record.gitDir, name);
    if (await exists(file)) held.push(`${file} is held${await lockAge(file)}`);
  }
  return {
    operation_in_progress: operations,
    locked: reason === undefined ? [] : [reason || "locked"],
    unreadable: held,
  };
}

/** A git that only looks, ours or that of another `ao`, works in the folder for a moment. */
async function usersOf({ processes }: Looking, folder: string): Promise<Found> {
  try {
    const real = await realpath(folder);
    let users = await processes.usersOf(real);
    for (let look = 1; look < LOOKS_AT_USERS && users.length > 0 && users.every(isGit); look += 1) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      users = await processes.usersOf(real);
    }
    return { in_use: users.map(({ pid, command }) => `${pid} ${command}`) };
  } catch (error) {
    return { unreadable: [`processes in it: ${errorMessage(error)}`] };
  }
}

const isGit = ({ command }: ProcessUse): boolean => /^(\S*\/)?git(\s|$)/.test(command);

/** A look that failed is a finding; only a git that cannot be asked at all is an error. */
async function readable(look: () => Promise<Found>): Promise<Found> {
  try {
    return await look();
  } catch (error) {
    if (isAoError(error, "git_unavailable")) throw error;
    return { unreadable: [errorMessage(error)] };
  }
}

/** What `ao` put there itself is no work while it is unchanged. */
async function withoutPut(root: string, marker: Marker, found: Found): Promise<Found> {
  const items = new Map(marker.put.map((item) => [item.path, item]));
  const work = async (paths: readonly string[] = []): Promise<readonly string[]> => {
    const kept: string[] = [];
    for (const path of paths) {
      const item = items.get(path);
      if (item === undefined || !(await isAsPut(root, item))) kept.push(path);
    }
    return kept;
  };
  const { changed, untracked, ignored } = found;
  return {
    ...found,
    changed: await work(changed),
    untracked: await work(untracked),
    ignored: await work(ignored),
  };
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
