import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { entryAt } from "./entry-at.ts";
import { outputOf } from "./git-failure.ts";
import type { Repository } from "./repository.ts";
import { type Git, inDirectory } from "./run-git.ts";
import { saysNothing } from "./system-error.ts";

/** One step of a branch. */
export interface BranchStep {
  /** Where it went. */
  readonly to: string;
  readonly what: string;
}

/**
 * The log of a ref, oldest first; empty when there is none. git is asked only where logs are no files.
 *
 * @throws AoError git_failed, git_unavailable when git could not tell.
 */
export async function logOf(git: Git, repository: Repository, ref: string): Promise<readonly BranchStep[]> {
  const isTable = (await entryAt(join(repository.commonDir, "reftable"), "git_unavailable")) !== undefined;
  return isTable
    ? askedOf(git, repository, ref)
    : parseLog(await textAt(join(repository.commonDir, "logs", ref)));
}

async function askedOf(git: Git, { path }: Repository, ref: string): Promise<readonly BranchStep[]> {
  const ask = ["reflog", "show", "--format=%H %gs", ref, "--"];
  const answer = outputOf(await git.read(inDirectory(path), ask), "read the log of a branch");
  const steps = answer.split("\n").flatMap((line) => step(/^([0-9a-f]+) (.*)$/.exec(line)));
  return steps.reverse();
}

/** As `<old> <new> <who> <time> <zone>\t<what>` (gitrepository-layout(5), `logs`). */
function parseLog(text: string): readonly BranchStep[] {
  return text.split("\n").flatMap((line) => step(/^[0-9a-f]+ ([0-9a-f]+) [^\t]*\t?(.*)$/.exec(line)));
}

function step(match: RegExpExecArray | null): readonly BranchStep[] {
  const [, to, what = ""] = match ?? [];
  return to === undefined ? [] : [{ to, what }];
}

async function textAt(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (saysNothing(error)) return "";
    throw error;
  }
}
