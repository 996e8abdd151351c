import { realpath } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { AoError } from "../../domain/errors.ts";
import { unseen } from "./entry-at.ts";
import { linesOf, strangeAnswer } from "./git-answer.ts";
import { outputOf } from "./git-failure.ts";
import { type Git, inDirectory } from "./run-git.ts";
import { hasCode, saysNothing } from "./system-error.ts";

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

/** Not said of a link that leads to no repository: that one is broken (setup.c, 2.25 to 2.47). */
const NO_REPOSITORY = /not a git repository \(or any/i;

/**
 * The repository around `directory`, which may be a subfolder, a linked worktree or a git directory;
 * `undefined` when there is none.
 *
 * @throws AoError git_failed when there is one that git refuses, for example of another owner.
 * @throws AoError git_unavailable when the folder cannot be reached, or git did not answer what it was asked.
 */
export async function readRepository(git: Git, directory: string): Promise<Repository | undefined> {
  const from = await resolved(directory);
  if (from === undefined) return undefined;
  const action = `open the repository at ${directory}`;
  const result = await git.read(inDirectory(from), ["rev-parse", ...QUESTION]);
  if (result.exitCode === 128 && NO_REPOSITORY.test(result.stderr)) return undefined;
  const lines = linesOf(result, action);
  if (lines.length > QUESTION.length) throw lineFeed(directory);
  const answer = parseAnswer(lines);
  if (answer === undefined) throw strangeAnswer(action, result.stdout);
  const commonDir = await realpath(resolve(from, answer.commonDir));
  if (answer.bare) return { path: commonDir, commonDir, bare: true };
  const isMain = answer.inside && (await realpath(resolve(from, answer.gitDir))) === commonDir;
  return isMain ? { path: resolve(from, answer.up), commonDir, bare: false } : mainOf(git, commonDir);
}

interface Answer {
  readonly gitDir: string;
  readonly commonDir: string;
  readonly bare: boolean;
  /** Whether the folder is in a working tree; `up` leads to its top then. */
  readonly inside: boolean;
  readonly up: string;
}

function parseAnswer([gitDir, commonDir, bare, inside, up]: readonly string[]): Answer | undefined {
  if (!gitDir || !commonDir || !isTruth(bare) || !isTruth(inside)) return undefined;
  if (up === undefined && inside === "true") return undefined;
  return { gitDir, commonDir, bare: bare === "true", inside: inside === "true", up: up ?? "" };
}

const isTruth = (text: string | undefined): boolean => text === "true" || text === "false";

/** `undefined` when nothing is there. */
async function resolved(directory: string): Promise<string | undefined> {
  try {
    return await realpath(directory);
  } catch (error) {
    if (saysNothing(error) || hasCode(error, "ENAMETOOLONG")) return undefined;
    throw unseen(directory, error, "git_unavailable");
  }
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
  const listed = result.exitCode === 1 && result.stdout === "" ? "" : outputOf(result, "read core.bare");
  const settings = new Map(listed.split("\0").map((entry) => splitSetting(entry)));
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
