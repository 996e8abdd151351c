import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Found } from "./findings.ts";
import type { Git, GitLocation } from "./run-git.ts";
import { hasCode } from "./system-error.ts";
import type { WorktreeRecord } from "./worktree-records.ts";

/**
 * What a person or an agent left in the private git directory of a worktree and nothing can give back: settings
 * of `git config --worktree`, and the message of a commit that did not come about.
 */
export async function inspectDrafts(git: Git, { gitDir }: WorktreeRecord): Promise<Found> {
  const [hasSettings, hasDraft] = await Promise.all([holdsSettings(gitDir), holdsDraft(git, gitDir)]);
  return {
    operation_in_progress: [
      ...(hasSettings ? ["settings of git config --worktree"] : []),
      ...(hasDraft ? ["a commit whose message is written (COMMIT_EDITMSG)"] : []),
    ],
  };
}

/**
 * What git itself writes there: `core.bare` and `core.worktree`, and what `git sparse-checkout` sets (git 2.39.5). All
 * else of the main working tree's is copied into each new one.
 */
const OF_GIT = /^(bare|worktree|sparse|sparsecheckout|sparsecheckoutcone)\s*=/i;

async function holdsSettings(gitDir: string): Promise<boolean> {
  const [own, main] = await Promise.all([
    textAt(join(gitDir, "config.worktree")),
    textAt(join(gitDir, "..", "..", "config.worktree")),
  ]);
  const known = new Set(linesOf(main));
  return linesOf(own).some((line) => !line.startsWith("[") && !OF_GIT.test(line) && !known.has(line));
}

/** A line of the comments or the scissors that git puts below a message for an editor (git-commit(1)). */
const COMMENT = /^#/;
const LOOK_BACK = 100;

/**
 * A message of `commit -m` has no comments: it is on the command line of who wrote it, and git leaves it behind
 * also where there was nothing to commit. That of an editor is a draft until a commit has it.
 */
async function holdsDraft(git: Git, gitDir: string): Promise<boolean> {
  const written = await textAt(join(gitDir, "COMMIT_EDITMSG"));
  const draft = messageOf(written);
  if (draft === "" || !written.split("\n").some((line) => COMMENT.test(line))) return false;
  const where: GitLocation = { kind: "git_dir", gitDir, workTree: null };
  const log = (...args: readonly string[]) => git.read(where, ["log", "-z", "--format=%B", ...args]);
  const answers = await Promise.all([log("-1", "HEAD"), log("-g", `-${LOOK_BACK}`, "HEAD")]);
  const messages = answers.flatMap(({ exitCode, stdout }) => (exitCode === 0 ? stdout.split("\0") : []));
  return !messages.some((message) => messageOf(message) === draft);
}

/** Without comments, what is below the scissors, and spaces that do not count. */
function messageOf(text: string): string {
  const [above = ""] = text.split(/^# -+ >8 -+$/m);
  return linesOf(above)
    .filter((line) => !COMMENT.test(line))
    .join("\n");
}

function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

async function textAt(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    throw error;
  }
}
