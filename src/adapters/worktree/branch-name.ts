import { AoError } from "../../domain/errors.ts";
import { onlyLine } from "./git-answer.ts";
import { type Git, inDirectory } from "./run-git.ts";

/** What git dies of for a name it refuses (builtin/check-ref-format.c, 2.16 to 2.47). */
const REFUSED = "is not a valid branch name";

/**
 * Lets git judge a branch name (git-check-ref-format(1), `--branch`). That option also expands `@{-1}` to
 * the branch checked out before, so a name that comes back as another one is refused as well.
 *
 * @throws AoError branch_invalid when git refuses it.
 * @throws AoError git_failed or git_unavailable when git could not judge it.
 */
export async function checkBranchName(git: Git, branch: string): Promise<void> {
  const result = await git.read(inDirectory("/"), ["check-ref-format", "--branch", branch]);
  if (result.exitCode === 128 && result.stderr.includes(REFUSED)) {
    throw invalidBranch(branch, "git does not allow this name");
  }
  const name = onlyLine(result, "judge a branch name");
  if (name !== branch) throw invalidBranch(branch, "it stands for another branch");
}

/** With `.lock` behind it each part of a name is that of a file: 255 bytes on all file systems in use. */
const MAX_PART_BYTES = 250;
/** Below any limit of a whole path, wherever the repository is. */
const MAX_BYTES = 1000;

/**
 * Names that no git can be asked about: it takes no NUL, and dies of one that is long enough (2.39.5, SIGSEGV).
 *
 * @throws AoError branch_invalid
 */
export function refuseUnusable(branch: string): void {
  if (branch.includes("\0")) throw invalidBranch(branch, "it holds a NUL character");
  const isTooLong =
    Buffer.byteLength(branch) > MAX_BYTES ||
    branch.split("/").some((part) => Buffer.byteLength(part) > MAX_PART_BYTES);
  if (isTooLong) throw invalidBranch(`${branch.slice(0, 40)}…`, "its name is too long");
}

/** A branch that cannot be made, by its name. */
export function invalidBranch(branch: string, why: string, hint?: string): AoError {
  return new AoError("branch_invalid", `branch ${JSON.stringify(branch)} cannot be made: ${why}`, {
    hint: hint ?? "choose another name with --branch",
    details: { branch },
  });
}
