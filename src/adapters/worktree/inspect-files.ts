import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../domain/errors.ts";
import { type Found, mergeFound } from "./findings.ts";
import { outputOf } from "./git-failure.ts";
import { hiddenChanges, readIndex } from "./index-entries.ts";
import { localCommits } from "./lost-commits.ts";
import { parseStatus, type StatusReport } from "./parse-status.ts";
import { type Git, type GitLocation, inDirectory } from "./run-git.ts";
import { scanIgnored } from "./scan-ignored.ts";

const STATUS = [
  "status",
  "--porcelain=v2",
  "--branch",
  "-z",
  "--untracked-files=all",
  "--ignored=matching",
  "--no-renames",
];

export interface FilesReport {
  readonly found: Found;
  /** Commit of HEAD; `null` on a branch without commits. */
  readonly head: string | null;
}

export interface FilesOptions {
  /** Folder of the files. */
  readonly root: string;
  readonly where: GitLocation;
  /** Whether submodules are looked into; in a folder that was moved git finds them no more. */
  readonly submodules: boolean;
}

/**
 * Everything in the files of one working tree that its commits do not have.
 *
 * @throws AoError git_failed when git could not tell.
 */
export async function inspectFiles(git: Git, options: FilesOptions): Promise<FilesReport> {
  const { root, where, submodules } = options;
  const [{ report, complaints }, index] = await Promise.all([
    readStatus(git, where, submodules),
    readIndex(git, where),
  ]);
  const [ignored, hidden, links] = await Promise.all([
    scanIgnored(root, report.ignored),
    hiddenChanges(git, root, index),
    submodules ? inspectGitlinks(git, root, index.gitlinks) : {},
  ]);
  const found: Found = {
    changed: [...report.changed, ...hidden],
    staged: report.staged,
    untracked: report.untracked,
    ignored: ignored.files,
    submodule: report.submodules,
    nested_repository: [...report.nested, ...ignored.nested],
    unreadable: [...complaints, ...ignored.unreadable],
  };
  return { found: mergeFound(found, links), head: report.head };
}

/** git passes over what it cannot open with a mere warning and exit code 0; other warnings are harmless. */
const UNSEEN = /could not open directory|permission denied|input\/output error/i;

async function readStatus(
  git: Git,
  where: GitLocation,
  submodules: boolean,
): Promise<{ readonly report: StatusReport; readonly complaints: readonly string[] }> {
  const args = [...STATUS, `--ignore-submodules=${submodules ? "none" : "all"}`];
  const result = await git.read(where, args);
  const report = parseStatus(outputOf(result, "read the status"));
  return { report, complaints: result.stderr.split("\n").filter((line) => UNSEEN.test(line)) };
}

async function inspectGitlinks(git: Git, root: string, paths: readonly string[]): Promise<Found> {
  let all: Found = {};
  for (const path of paths) all = mergeFound(all, await inspectGitlink(git, root, path));
  return all;
}

/**
 * A submodule keeps its repository in the worktree's private git directory, so its own commits count; one
 * with a real `.git` folder is embedded whole. git shows no file in the folder of one that was never
 * initialised.
 */
async function inspectGitlink(git: Git, root: string, path: string): Promise<Found> {
  const folder = join(root, path);
  const link = await lstat(join(folder, ".git")).catch(() => undefined);
  if (link === undefined) {
    const names = await readdir(folder).catch((): string[] => []);
    return { untracked: names.map((name) => join(path, name)) };
  }
  if (!link.isFile()) return { nested_repository: [`${path}/`] };
  return (await hasWork(git, folder)) ? { submodule: [path] } : {};
}

async function hasWork(git: Git, folder: string): Promise<boolean> {
  const where = inDirectory(folder);
  const { found } = await inspectFiles(git, { root: folder, where, submodules: true });
  if (Object.values(found).some((items) => items.length > 0)) return true;
  return (await localCommits(git, where)).length > 0;
}

/**
 * Repositories of submodules in a private git directory that have commits no remote has. Their own notion of
 * a working tree is overridden: git would not start without it, and it may be taken out or moved aside.
 */
export async function inspectModules(git: Git, gitDir: string): Promise<Found> {
  const submodule: string[] = [];
  const unreadable: string[] = [];
  for (const module of await findModules(join(gitDir, "modules"))) {
    const where = { kind: "git_dir", gitDir: module, workTree: module } as const;
    const name = module.slice(gitDir.length + 1);
    try {
      if ((await localCommits(git, where)).length > 0) submodule.push(name);
    } catch (error) {
      unreadable.push(`${name}: ${errorMessage(error)}`);
    }
  }
  return { submodule, unreadable };
}

/** Names of submodules may have slashes, and a submodule may have submodules. */
async function findModules(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const isGitDir =
    entries.some(({ name }) => name === "HEAD") && entries.some(({ name }) => name === "objects");
  if (isGitDir) return [folder, ...(await findModules(join(folder, "modules")))];
  const folders = entries.filter((entry) => entry.isDirectory());
  return (await Promise.all(folders.map(({ name }) => findModules(join(folder, name))))).flat();
}
