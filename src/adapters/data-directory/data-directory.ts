import { accessSync, constants, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { dataLayout } from "../../domain/data-layout.ts";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { closeToOthers, openToOthers } from "./file-modes.ts";
import { hideFromGit } from "./hide-from-git.ts";
import { makeFolder } from "./make-folder.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder that holds all that `ao` keeps. */
export interface DataDirectory {
  /** Absolute, links not resolved. */
  readonly path: string;
  /** The variable that names it, or `default`. */
  readonly origin: string;
  /** Whether it is there. @throws AoError data_dir_unusable when something else is. */
  exists(): boolean;
  /** Its path with links resolved, as far as it exists. @throws AoError data_dir_unusable */
  resolved(): string;
  /**
   * Makes it with mode 0700 unless it is there, hidden from the repository that it may lie in; its resolved path.
   *
   * @throws AoError data_dir_unusable
   */
  prepare(): string;
  /**
   * Whether anything lies at one of these paths in it, a dangling link included.
   *
   * @throws AoError data_dir_unusable when that cannot be told, as in a folder that cannot be entered.
   */
  holdsAny(paths: readonly string[]): boolean;
  /** Whether the worktree of a session, or what looks like one, lies in it. @throws AoError data_dir_unusable */
  holdsWorktrees(): boolean;
  /** What in it other users could read or write, worktrees' content aside. */
  openToOthers(): readonly string[];
  /** Takes the rights of other users on these paths away. */
  closeToOthers(paths: readonly string[]): void;
}

/** The caller's home folder: `HOME`, else what the system's user database says. */
export function homeDirectory(env: Environment): string {
  return env["HOME"] || homedir();
}

/** A relative `XDG_DATA_HOME` is ignored, as the XDG Base Directory Specification 0.8 demands. */
function locate(env: Environment, cwd: string): Pick<DataDirectory, "path" | "origin"> {
  if (env["AO_DATA_DIR"]) return { path: resolve(cwd, env["AO_DATA_DIR"]), origin: "AO_DATA_DIR" };
  const xdg = env["XDG_DATA_HOME"];
  if (xdg?.startsWith("/")) return { path: join(xdg, "ao"), origin: "XDG_DATA_HOME" };
  return { path: join(homeDirectory(env), ".local", "share", "ao"), origin: "default" };
}

const ANOTHER = "name another one with AO_DATA_DIR";

function unusable(
  path: string,
  reason: string,
  { cause, hint }: { readonly cause?: unknown; readonly hint?: string } = {},
): AoError {
  return new AoError("data_dir_unusable", `data directory ${path} cannot be used: ${reason}`, {
    hint: hint ?? (isAbsolute(path) ? ANOTHER : "correct HOME, or set AO_DATA_DIR"),
    details: { path },
    cause,
  });
}

/** What Node puts in place of bytes of a variable that are no UTF-8 (20.20): the path is another one then. */
const LOST = "\ufffd";

/** Calls the file system; what it refuses is about the data directory. */
function guarded<Result>(path: string, work: () => Result): Result {
  if (path.includes(LOST)) throw unusable(path, "its path is not valid UTF-8");
  if (!isAbsolute(path)) throw unusable(path, "HOME is not an absolute path");
  try {
    return work();
  } catch (cause) {
    throw cause instanceof AoError ? cause : unusable(path, errorMessage(cause), { cause });
  }
}

function exists(path: string): boolean {
  return guarded(path, () => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    if (!stats.isDirectory()) throw unusable(path, "it is not a folder");
    if (isGitDirectory(path)) throw unusable(path, "it is a git directory, whose worktrees/ is git's own");
    return true;
  });
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** What makes a folder one of git's own, a bare repository or `.git` (gitrepository-layout(5)). */
function isGitDirectory(path: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => isThere(join(path, name)));
}

/** In the top folder of a repository all of it would be among the repository's files, and go with `git clean`. */
function refuseTopFolder(path: string): void {
  if (!isThere(join(path, ".git")) || isThere(dataLayout(path).database)) return;
  throw unusable(path, "it is the top folder of a repository", {
    hint: `${ANOTHER}, for example ${join(path, ".ao")}`,
  });
}

function prepare(path: string): string {
  return guarded(path, () => {
    if (exists(path)) refuseTopFolder(path);
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const resolved = realpathSync(path);
    hideFromGit(resolved);
    return resolved;
  });
}

/** A folder for each project, and in it one for each session. */
function holdsWorktrees(root: string): boolean {
  return foldersIn(root).some((project) => foldersIn(join(root, project)).length > 0);
}

function foldersIn(path: string): readonly string[] {
  if (!isThere(path)) return [];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
}

/** The data directory: `AO_DATA_DIR`, else `$XDG_DATA_HOME/ao`, else `~/.local/share/ao`. Makes nothing. */
export function dataDirectory(env: Environment, cwd: string): DataDirectory {
  const { path, origin } = locate(env, cwd);
  return {
    path,
    origin,
    exists: () => exists(path),
    resolved: () => (exists(path) ? guarded(path, () => realpathSync(path)) : path),
    prepare: () => prepare(path),
    holdsAny: (paths) => guarded(path, () => paths.some(isThere)),
    holdsWorktrees: () => guarded(path, () => holdsWorktrees(dataLayout(path).worktreesRoot)),
    openToOthers: () => guarded(path, () => openToOthers(path)),
    closeToOthers: (paths) => guarded(path, () => closeToOthers(paths)),
  };
}
