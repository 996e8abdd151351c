import { realpath } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { AoError } from "../../domain/errors.ts";
import { gitFailed } from "./git-failure.ts";
import { type Git, inDirectory } from "./run-git.ts";

/** One repository, however it was reached: its identity is the common git directory. */
export interface Repository {
  /** Resolved path of the main working tree; of the git directory when there is none. */
  readonly path: string;
  readonly commonDir: string;
  readonly bare: boolean;
}

/** From inside a git directory `--show-cdup` prints nothing and from its top folder an empty line. */
const QUESTION = [
  "--git-dir",
  "--git-common-dir",
  "--is-bare-repository",
  "--is-inside-work-tree",
  "--show-cdup",
];

/**
 * The repository around `directory`, which may be a subfolder, a linked worktree or a git directory;
 * `undefined` when there is none.
 *
 * @throws AoError git_failed when there is one that git refuses, for example of another owner.
 */
export async function readRepository(git: Git, directory: string): Promise<Repository | undefined> {
  const from = await realpath(directory).catch(() => undefined);
  if (from === undefined) return undefined;
  const result = await git.read(inDirectory(from), ["rev-parse", ...QUESTION]);
  if (result.exitCode !== 0) {
    if (/not a git repository/i.test(result.stderr)) return undefined;
    throw gitFailed(`open the repository at ${directory}`, result.stderr);
  }
  const answers = result.stdout.split("\n");
  if (answers.length > QUESTION.length + 1) throw lineFeed(directory);
  const [gitDir = "", common = "", bare, inside, up = ""] = answers;
  const commonDir = await realpath(resolve(from, common));
  if (bare === "true") return { path: commonDir, commonDir, bare: true };
  const isMain = inside === "true" && (await realpath(resolve(from, gitDir))) === commonDir;
  return isMain ? { path: resolve(from, up), commonDir, bare: false } : mainOf(git, commonDir);
}

/** git writes one path a line, so such a path cannot be told from two. */
function lineFeed(directory: string): AoError {
  const message = `the repository at ${JSON.stringify(directory)} has a line feed in its path`;
  return new AoError("git_failed", message, { hint: "rename that folder" });
}

/**
 * The repository recorded at `path`.
 *
 * @throws AoError git_failed when there is none any more.
 */
export async function openRepository(git: Git, path: string): Promise<Repository> {
  const repository = await readRepository(git, path);
  if (repository !== undefined) return repository;
  throw new AoError("git_failed", `there is no repository at ${path}`, { details: { path } });
}

/** The main working tree as the common git directory knows it; `core.worktree` is how submodules say it. */
async function mainOf(git: Git, commonDir: string): Promise<Repository> {
  const where = { kind: "git_dir", gitDir: commonDir, workTree: null } as const;
  const result = await git.read(where, ["config", "-z", "--get-regexp", "^core\\.(bare|worktree)$"]);
  const settings = new Map(result.stdout.split("\0").map((entry) => splitSetting(entry)));
  if (settings.get("core.bare") === "true") return { path: commonDir, commonDir, bare: true };
  const workTree = settings.get("core.worktree");
  if (workTree !== undefined) return { path: resolve(commonDir, workTree), commonDir, bare: false };
  const path = basename(commonDir) === ".git" ? dirname(commonDir) : commonDir;
  return { path, commonDir, bare: false };
}

/** With `-z` a name and its value are parted by a line feed (git-config(1)). */
function splitSetting(entry: string): [string, string] {
  const at = entry.indexOf("\n");
  return at < 0 ? [entry, "true"] : [entry.slice(0, at), entry.slice(at + 1)];
}
