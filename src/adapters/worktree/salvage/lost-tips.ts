import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { visitedCommits } from "../lost-commits.ts";
import type { GitState } from "./git-state.ts";
import type { Plumbing } from "./plumbing.ts";

/**
 * Commits that this worktree's HEAD or own refs were at and that no branch, tag, remote or HEAD has: the last
 * of each line, which hold the others.
 *
 * @throws AoError git_failed when git cannot tell.
 */
export async function lostTips(plumbing: Plumbing, state: GitState): Promise<readonly string[]> {
  const visited = [...(await visitedBy(plumbing)), ...Object.values(state.refs)];
  if (visited.length === 0) return [];
  const { commit } = state.head;
  const held = ["--not", "--branches", "--tags", "--remotes", ...(commit === null ? [] : [commit])];
  const args = ["rev-list", "--parents", "--ignore-missing", "--stdin", ...held];
  const answer = await plumbing.tell("list commits", args, `${visited.join("\n")}\n`);
  const lines = answer
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(" "));
  const parents = new Set(lines.flatMap(([, ...rest]) => rest));
  return lines
    .map(([own = ""]) => own)
    .filter((own) => !parents.has(own))
    .sort();
}

/** Without a log in a file git may keep it elsewhere, or none. */
async function visitedBy(plumbing: Plumbing): Promise<readonly string[]> {
  const log = await readFile(join(plumbing.gitDir, "logs", "HEAD"), "utf8").catch(() => undefined);
  if (log !== undefined) return visitedCommits(log);
  const { stdout } = await plumbing.ask(["rev-list", "--walk-reflogs", "HEAD", "--"]);
  return stdout.split("\n").filter(Boolean);
}
