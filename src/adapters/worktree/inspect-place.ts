import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import type { ProcessUse } from "../../ports/process-table.ts";
import { type Found, mergeFound, toFindings } from "./findings.ts";
import { inUse } from "./in-use.ts";
import { inspectDrafts } from "./inspect-drafts.ts";
import { inspectFiles } from "./inspect-files.ts";
import { inspectModules } from "./inspect-modules.ts";
import { inspectGitDir, inspectRecord, readable } from "./inspect-record.ts";
import { lostCommits } from "./lost-commits.ts";
import type { Marker } from "./marker.ts";
import type { Context, Owned, Place } from "./place.ts";
import { comesAgain } from "./put-files.ts";
import { type GitLocation, inDirectory } from "./run-git.ts";

type Looking = Pick<Context, "git" | "ignoredRule" | "processes">;

/** What `findAt` found, as findings. */
export async function inspectPlace(
  looking: Looking,
  place: Place,
  seen?: readonly ProcessUse[],
): Promise<readonly WorkspaceFinding[]> {
  return toFindings(await findAt(looking, place, seen));
}

/** The same of a worktree that was moved aside. */
export async function inspectHeld(
  looking: Looking,
  owned: Owned,
  tree: string,
): Promise<readonly WorkspaceFinding[]> {
  return toFindings(await findInHeld(looking, owned, tree));
}

/**
 * Everything that would be lost with what is at the place. Changes nothing. `seen` is an earlier look at the
 * processes; without one they are looked at now.
 */
export async function findAt(looking: Looking, place: Place, seen?: readonly ProcessUse[]): Promise<Found> {
  switch (place.kind) {
    case "gone":
      return place.record === undefined ? {} : inspectRecord(looking.git, place.record);
    case "unreadable":
      return mergeFound({ unreadable: [place.cause] }, await inUse(looking, place.tree, seen));
    case "standing": {
      const { path, owned } = place;
      return findInTree(looking, { owned, root: path, where: inDirectory(path), submodules: true, seen });
    }
    case "held":
      return findInHeld(looking, place.owned, place.tree);
  }
}

/**
 * git finds a worktree that was moved aside by its private directory; submodules no more, their links being
 * relative, so the look before the move has to do for them.
 */
function findInHeld(looking: Looking, owned: Owned, tree: string): Promise<Found> {
  const where: GitLocation = { kind: "git_dir", gitDir: owned.record.gitDir, workTree: tree };
  return findInTree(looking, { owned, root: tree, where, submodules: false, seen: undefined });
}

interface Tree {
  readonly owned: Owned;
  readonly root: string;
  readonly where: GitLocation;
  readonly submodules: boolean;
  readonly seen: readonly ProcessUse[] | undefined;
}

async function findInTree(looking: Looking, tree: Tree): Promise<Found> {
  const { record, marker } = tree.owned;
  const parts = await Promise.all([
    readable(() => inspectContent(looking, tree)),
    readable(() => inspectModules(looking.git, record.gitDir)),
    readable(() => inspectGitDir(record)),
    readable(() => inspectDrafts(looking.git, record)),
  ]);
  const work = await withoutPut(tree.root, marker, parts.reduce(mergeFound));
  return mergeFound(work, await inUse(looking, tree.root, tree.seen));
}

async function inspectContent({ git, ignoredRule }: Looking, tree: Tree): Promise<Found> {
  const { record, marker } = tree.owned;
  const rule = () => ignoredRule(marker);
  const { found, head } = await inspectFiles(git, { ...tree, home: record.path, rule });
  return mergeFound(found, { unreachable_commits: await lostCommits(git, record.gitDir, head) });
}

/** What `ao` put there itself is no work while it is unchanged, and is no last copy. */
async function withoutPut(root: string, marker: Marker, found: Found): Promise<Found> {
  const items = new Map(marker.put.map((item) => [item.path, item]));
  const work = async (paths: readonly string[] = []): Promise<readonly string[]> => {
    const kept: string[] = [];
    for (const path of paths) {
      const item = items.get(path);
      if (item === undefined || !(await comesAgain(root, item, marker.repositoryPath))) kept.push(path);
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
