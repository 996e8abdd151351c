import { join } from "node:path";
import type { OnBranch } from "../../ports/workspace.ts";
import { checkedOutBranch } from "./branch-refs.ts";
import { entryAt } from "./entry-at.ts";
import type { Context } from "./place.ts";
import type { Git } from "./run-git.ts";
import type { WorktreeRecord } from "./worktree-records.ts";

/** Tells which branch a record has checked out; false when another process dropped the record meanwhile. */
export async function tellBranch(
  { git }: Pick<Context, "git">,
  record: WorktreeRecord | undefined,
  onBranch: OnBranch,
): Promise<boolean> {
  if (record === undefined) return true;
  const branch = await branchOf(git, record);
  if (branch === VANISHED) return false;
  if (branch !== undefined) onBranch(branch);
  return true;
}

const VANISHED = Symbol("vanished");

async function branchOf(git: Git, { gitDir }: WorktreeRecord): Promise<string | undefined | typeof VANISHED> {
  try {
    return await checkedOutBranch(git, { kind: "git_dir", gitDir, workTree: null });
  } catch (error) {
    if (await isVanishing(gitDir)) return VANISHED;
    throw error;
  }
}

/** git takes a record away file by file; without one of these it is none any more (gitrepository-layout(5)). */
async function isVanishing(gitDir: string): Promise<boolean> {
  const look = (name: string) => entryAt(join(gitDir, name), "git_unavailable");
  const files = await Promise.all(["HEAD", "commondir", "gitdir"].map(look));
  return files.includes(undefined);
}
