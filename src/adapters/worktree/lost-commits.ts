import { lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commitOrNone, isCommit, onlyLine, strangeAnswer } from "./git-answer.ts";
import { outputOf } from "./git-failure.ts";
import type { Git, GitLocation } from "./run-git.ts";
import { hasCode } from "./system-error.ts";

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
  const visited = await visitedIn(git, where, gitDir);
  const lost = await unheld(git, where, [...standing, ...visited]);
  if (lost.length === 0) return [];
  const logged = await git.read(where, ["rev-list", "--walk-reflogs", "--branches"]);
  const held = outputOf(logged, "read the logs of branches").split("\n").filter(Boolean);
  const stillLost = await unheld(git, where, [...visited, ...held.map((commit) => `^${commit}`)]);
  return unique([...(await unheld(git, where, standing)), ...stillLost]);
}

/**
 * Commits that the branch has and no other branch, tag or remote. They stay when the worktree goes.
 *
 * @throws AoError git_failed when git could not tell.
 */
export function commitsOnlyOn(git: Git, where: GitLocation, branch: string): Promise<readonly string[]> {
  const others = ["--not", `--exclude=${branch}`, "--branches", "--tags", "--remotes"];
  return listCommits(git, where, { revisions: [`refs/heads/${branch}`, ...others] });
}

/**
 * Makes sure that where HEAD goes is on record, also in a repository that keeps no logs: git goes on with a
 * log that exists, whatever `core.logAllRefUpdates` says (git-config(1); checked with 2.39.5). The log is the
 * worktree's own and goes with it.
 */
export async function keepHeadLog(gitDir: string): Promise<void> {
  if (await exists(join(gitDir, "reftable"))) return;
  await mkdir(join(gitDir, "logs"), { recursive: true });
  await writeFile(join(gitDir, "logs", "HEAD"), "", { flag: "a" });
}

/**
 * Commits of a repository inside the worktree, a submodule's for example, that none of its remotes has. Its
 * logs and tags go with it, so what only they hold counts.
 *
 * @throws AoError git_failed when git could not tell.
 */
export function localCommits(git: Git, where: GitLocation): Promise<readonly string[]> {
  return listCommits(git, where, { revisions: ["--all", "--reflog", "--not", "--remotes"] });
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
  const input = `${unique(commits).join("\n")}\n`;
  return listCommits(git, where, { revisions: ["--ignore-missing", "--stdin", ...HELD], input });
}

interface Revisions {
  readonly revisions: readonly string[];
  readonly input?: string;
}

/** They are counted first: a git that says nothing at all has not said that there are none. */
async function listCommits(
  git: Git,
  where: GitLocation,
  { revisions, input }: Revisions,
): Promise<readonly string[]> {
  const args = ["rev-list", `--max-count=${MAX_COMMITS}`];
  const counted = await git.read(where, [...args, "--count", ...revisions], input);
  const count = onlyLine(counted, "count commits");
  if (!/^\d+$/.test(count)) throw strangeAnswer("count commits", counted.stdout);
  if (count === "0") return [];
  const listed = await git.read(where, [...args, ...revisions], input);
  return outputOf(listed, "list commits").split("\n").filter(Boolean);
}

/**
 * Where HEAD has been by its log, and where it was before the last big step, which is on record even when
 * nobody keeps logs (gitrevisions(7), ORIG_HEAD).
 */
async function visitedIn(git: Git, where: GitLocation, gitDir: string): Promise<readonly string[]> {
  const original = await originalIn(git, where, gitDir);
  return unique([...(await loggedIn(git, where, gitDir)), ...(original === undefined ? [] : [original])]);
}

/** Read without git where it is a file, or there is none. */
async function originalIn(git: Git, where: GitLocation, gitDir: string): Promise<string | undefined> {
  const [text, isTable] = await Promise.all([
    textAt(join(gitDir, "ORIG_HEAD")),
    exists(join(gitDir, "reftable")),
  ]);
  if (text === undefined && !isTable) return undefined;
  const commit = text?.trim() ?? "";
  if (isCommit(commit)) return commit;
  const before = await git.read(where, ["rev-parse", "--verify", "--quiet", "ORIG_HEAD^{commit}"]);
  return commitOrNone(before, "tell where HEAD was");
}

async function loggedIn(git: Git, where: GitLocation, gitDir: string): Promise<readonly string[]> {
  const log = await textAt(join(gitDir, "logs", "HEAD"));
  if (log !== undefined) return visitedCommits(log);
  if (!(await exists(join(gitDir, "reftable")))) throw new Error("its log of HEAD is missing");
  const result = await git.read(where, ["rev-list", "--walk-reflogs", "HEAD"]);
  return outputOf(result, "read the log of HEAD").split("\n").filter(Boolean);
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

async function textAt(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  });
}

const unique = (values: readonly string[]): readonly string[] => [...new Set(values)];

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
