import { createHash } from "node:crypto";
import { outputOf } from "../git-failure.ts";
import { type Git, inDirectory } from "../run-git.ts";

const ASK = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignored"];
/** Which commit is checked out and that no branch is; other headers are no matter of this worktree. */
const HEADERS = ["# branch.oid ", "# branch.head "];

/**
 * All that git can tell of a worktree's files and HEAD, as one digest: it is the same while nothing was changed,
 * added or checked out. Untracked and ignored files count by their names.
 *
 * @throws AoError git_failed, git_unavailable
 */
export async function spareState(git: Git, path: string): Promise<string> {
  const text = outputOf(await git.read(inDirectory(path), ASK), "look at a worktree that was made ahead");
  const says = text
    .split("\0")
    .filter((entry) => !entry.startsWith("#") || HEADERS.some((header) => entry.startsWith(header)));
  return createHash("sha256").update(says.join("\0")).digest("hex");
}
