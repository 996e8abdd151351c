import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { outputOf } from "./git-failure.ts";
import type { Git, GitLocation } from "./run-git.ts";

const MAX_COMMITS = 1_000;
const HELD = ["--not", "--branches", "--tags", "--remotes"];
const ONLY_HERE = ["refs/worktree", "refs/bisect", "refs/rewritten"];

/**
 * Commits that go with the worktree: reachable from its HEAD, its own refs or where its HEAD has been, and
 * from no branch, tag or remote. What a branch's log still has, for example the commit before an amend or a
 * reset, is not lost: that log belongs to the repository. At most 1000 of them, newest first.
 *
 * @throws AoError git_failed when git could not tell.
 */
export async function lostCommits(git: Git, gitDir: string, head: string | null): Promise<readonly string[]> {
  const where: GitLocation = { kind: "git_dir", gitDir, workTree: null };
  const standing = [...(head === null ? [] : [head]), ...(await ownRefs(git, where, gitDir))];
  const visited = visitedCommits(await readHeadLog(gitDir));
  const lost = await unheld(git, where, [...standing, ...visited]);
  if (lost.length === 0) return [];
  const logged = await git.read(where, ["rev-list", "--walk-reflogs", "--branches"]);
  const held = outputOf(logged, "read the logs of branches").split("\n").filter(Boolean);
  const stillLost = await unheld(git, where, [...visited, ...held.map((commit) => `^${commit}`)]);
  return unique([...(await unheld(git, where, standing)), ...stillLost]);
}

/**
 * Commits of a repository inside the worktree, a submodule's for example, that none of its remotes has. Its
 * logs and tags go with it, so what only they hold counts.
 *
 * @throws AoError git_failed when git could not tell.
 */
export async function localCommits(git: Git, where: GitLocation): Promise<readonly string[]> {
  const args = ["rev-list", `--max-count=${MAX_COMMITS}`, "--all", "--reflog", "--not", "--remotes"];
  const result = await git.read(where, args);
  return outputOf(result, "list commits").split("\n").filter(Boolean);
}

/** Refs of this worktree alone (gitrepository-layout(5)); most have none, and no folder for them. */
async function ownRefs(git: Git, where: GitLocation, gitDir: string): Promise<readonly string[]> {
  const mayHave = await Promise.all(["refs", "reftable"].map((name) => exists(join(gitDir, name))));
  if (!mayHave.includes(true)) return [];
  const result = await git.read(where, ["for-each-ref", "--format=%(objectname)", "--", ...ONLY_HERE]);
  return outputOf(result, "list the worktree's refs").split("\n").filter(Boolean);
}

async function unheld(git: Git, where: GitLocation, commits: readonly string[]): Promise<readonly string[]> {
  if (commits.length === 0) return [];
  const args = ["rev-list", "--ignore-missing", `--max-count=${MAX_COMMITS}`, "--stdin", ...HELD];
  const result = await git.read(where, args, `${unique(commits).join("\n")}\n`);
  return outputOf(result, "list commits").split("\n").filter(Boolean);
}

async function readHeadLog(gitDir: string): Promise<string> {
  return readFile(join(gitDir, "logs", "HEAD"), "utf8").catch(() => "");
}

/**
 * Where HEAD has been, from its log (`<old> <new> <who> <time>\t<what>`), the steps inside a rebase left
 * out: what a rebase ends in counts, not the half-made commits on its way.
 */
export function visitedCommits(log: string): readonly string[] {
  const entries = log.split("\n").flatMap(parseLogEntry);
  const first = entries[0]?.from ?? "";
  const visited = entries.filter((entry, at) => !isRebaseStep(entry, entries[at + 1])).map(({ to }) => to);
  return unique([first, ...visited]).filter((commit) => !/^0*$/.test(commit));
}

interface LogEntry {
  readonly from: string;
  readonly to: string;
  readonly what: string;
}

function parseLogEntry(line: string): readonly LogEntry[] {
  const [, from, to, what = ""] = /^([0-9a-f]+) ([0-9a-f]+) [^\t]*\t?(.*)$/.exec(line) ?? [];
  return from === undefined || to === undefined ? [] : [{ from, to, what }];
}

const isRebase = ({ what }: LogEntry): boolean => /^rebase\b|^pull\b[^:]*\(/.test(what);

/** On a detached HEAD no entry marks the end of a rebase: the start of the next one does. */
function isRebaseStep(entry: LogEntry, next: LogEntry | undefined): boolean {
  return next !== undefined && isRebase(entry) && isRebase(next) && !next.what.includes("(start)");
}

const unique = (values: readonly string[]): readonly string[] => [...new Set(values)];

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
