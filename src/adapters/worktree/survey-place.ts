import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ProcessUse } from "../../ports/process-table.ts";
import type { WorkspaceRemains, WorkspaceSurvey } from "../../ports/workspace-facts.ts";
import { checkedOutBranch } from "./branch-refs.ts";
import { entryAt } from "./entry-at.ts";
import { toFindings } from "./findings.ts";
import { outputOf } from "./git-failure.ts";
import { findAt } from "./inspect-place.ts";
import { withPlace } from "./inspect-whole.ts";
import { commitsOnlyOn } from "./lost-commits.ts";
import type { Context, Place } from "./place.ts";
import type { Git, GitLocation } from "./run-git.ts";

/** As `Workspace.survey` says. */
export async function surveyPlace(
  context: Context,
  place: Place,
  seen?: readonly ProcessUse[],
): Promise<WorkspaceSurvey> {
  const [found, stays] = await Promise.all([findAt(context, place, seen), remainsOf(context.git, place)]);
  const findings = await withPlace(context, place, toFindings(found));
  return { findings, ignoredWork: found.ignored ?? [], ...stays };
}

const NOTHING: WorkspaceRemains = { branch: null, commits: [], stashes: [] };

async function remainsOf(git: Git, place: Place): Promise<WorkspaceRemains> {
  if (place.kind === "unreadable") return NOTHING;
  const record = place.kind === "gone" ? place.record : place.owned.record;
  if (record === undefined) return NOTHING;
  const where: GitLocation = { kind: "git_dir", gitDir: record.gitDir, workTree: null };
  try {
    const branch = (await branchIn(git, where, record.gitDir)) ?? null;
    if (branch === null) return NOTHING;
    const [commits, stashes] = await Promise.all([
      commitsOnlyOn(git, where, branch),
      stashesOf(git, where, { branch, gitDir: record.gitDir }),
    ]);
    return { branch, commits, stashes };
  } catch {
    // What cannot be read is a finding; this is only for show.
    return NOTHING;
  }
}

/** Read without git in the usual case. One without a commit is none: its commits cannot be counted. */
async function branchIn(git: Git, where: GitLocation, gitDir: string): Promise<string | undefined> {
  if (await isThere(join(gitDir, "reftable"))) return checkedOutBranch(git, where);
  const head = await readFile(join(gitDir, "HEAD"), "utf8");
  return /^ref: refs\/heads\/(.+)\n$/.exec(head)?.[1];
}

/** git writes the branch into the message of a stash (git-stash(1)); a person may have written another. */
async function stashesOf(
  git: Git,
  where: GitLocation,
  { branch, gitDir }: { readonly branch: string; readonly gitDir: string },
): Promise<readonly string[]> {
  if (!(await mayHaveStashes(gitDir))) return [];
  const result = await git.read(where, ["stash", "list", "-z", "--format=%gd %gs"]);
  const own = [` WIP on ${branch}: `, ` On ${branch}: `];
  const stashes = outputOf(result, "list stashes").split("\0");
  return stashes.filter((line) => own.some((mark) => line.replace(/^\S+/, "").startsWith(mark)));
}

/** Stashes are the log of one ref (git-stash(1)). */
async function mayHaveStashes(gitDir: string): Promise<boolean> {
  const common = join(gitDir, "..", "..");
  return (await isThere(join(common, "logs", "refs", "stash"))) || isThere(join(common, "reftable"));
}

async function isThere(path: string): Promise<boolean> {
  return (await entryAt(path, "git_unavailable")) !== undefined;
}
