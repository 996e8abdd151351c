import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { execaSync } from "execa";
import { gitRunner } from "../../../../../src/adapters/worktree/run-git.ts";
import { type KeepingWork, keepWork } from "../../../../../src/adapters/worktree/salvage/keep-work.ts";
import { observe } from "../../../../../src/adapters/worktree/salvage/observe.ts";
import { plumbingAt } from "../../../../../src/adapters/worktree/salvage/plumbing.ts";
import { putBack } from "../../../../../src/adapters/worktree/salvage/put-back.ts";
import { readSettings } from "../../../../../src/adapters/worktree/salvage/repository-settings.ts";
import type { SessionId } from "../../../../../src/domain/ids.ts";
import type { FaultPoint } from "../../../../../src/ports/fault-point.ts";
import type { Fence } from "../../../../../src/ports/fence.ts";
import {
  GIT_ENV,
  gitExit,
  gitIn,
  gitRepository,
  type TestRepository,
  writeIn,
} from "../../../../support/git-repository.ts";
import { tempDir } from "../../../../support/temp-dir.ts";

export const SESSION = "app-1" as SessionId;
export const AT_MS = 1_700_000_000_000;

/** A repository with a linked worktree of a session, as a test builds states in it. */
export interface SalvageWorld {
  readonly repository: TestRepository;
  /** The worktree. */
  readonly path: string;
  /** Runs git in the worktree. */
  git(...args: readonly string[]): string;
  /** Runs git in the worktree, whatever it exits with. */
  tryGit(...args: readonly string[]): number;
  write(path: string, content: string): void;
  /** Removes the worktree with all that is in it, and adds it again: on its branch, if not told otherwise. */
  makeAnew(on?: readonly string[]): void;
  /** Has git delete all that nothing holds. */
  forgetLoose(): void;
  salvage(ignoredPaths?: readonly string[]): ReturnType<typeof keepWork>;
  putBack(commit: string, boundary?: FaultPoint, fence?: Fence): ReturnType<typeof putBack>;
  keeping(boundary?: FaultPoint, fence?: Fence): Promise<KeepingWork>;
}

const FILES = [
  ["tracked.txt", "one\ntwo\nthree\n"],
  ["folder/deep.txt", "deep\n"],
  ["folder/other.txt", "other\n"],
  ["run.sh", "#!/bin/sh\n"],
  [".gitignore", ".env\n*.log\nnode_modules/\n"],
] as const;

/** Commits a few files. */
export function addFiles(repository: TestRepository): void {
  for (const [file, content] of FILES) writeIn(repository.path, file, content);
  repository.git("add", ".");
  repository.git("commit", "-qm", "files");
}

export interface WorldOptions {
  readonly repository?: TestRepository;
  /** What is checked out when the worktree is made anew: its branch, if not told otherwise. */
  readonly anewOn?: string;
}

/** The world, with a few files committed. */
export function salvageWorld({
  repository = gitRepository(),
  anewOn = "feat/1",
}: WorldOptions = {}): SalvageWorld {
  addFiles(repository);
  const path = join(tempDir("ao-data"), "worktrees", "app", SESSION);
  repository.git("worktree", "add", "-q", "-b", "feat/1", "--", path);
  const keeping = async (
    boundary: FaultPoint = async () => {},
    fence: Fence = () => {},
  ): Promise<KeepingWork> => {
    const gitDir = gitDirOf(path);
    const git = gitRunner({ env: GIT_ENV });
    const plumbing = plumbingAt(git, { gitDir, commonDir: join(repository.path, ".git"), root: path });
    const base = { git, plumbing, root: path, settings: await readSettings(plumbing), boundary, fence };
    return { ...base, observe: (observation) => observe(base, observation) };
  };
  return {
    repository,
    path,
    git: (...args) => gitIn(path, ...args),
    tryGit: (...args) => gitExit(path, ...args),
    write: (file, content) => writeIn(path, file, content),
    makeAnew(on = [anewOn]) {
      execaSync("chmod", ["-R", "u+rwX", path]);
      repository.git("worktree", "remove", "--force", "--force", path);
      repository.git("worktree", "add", "-q", path, ...on);
    },
    forgetLoose() {
      repository.git("reflog", "expire", "--expire=now", "--all");
      repository.git("gc", "-q", "--prune=now");
    },
    salvage: async (ignoredPaths = []) =>
      keepWork(await keeping(), {
        ...{ sessionId: SESSION, reason: "kill", atMs: AT_MS },
        chosen: { paths: ignoredPaths, unkeepable: [], special: [], isWork: false },
      }),
    putBack: async (commit, boundary, fence) => putBack(await keeping(boundary, fence), commit),
    keeping,
  };
}

/** Everything that is in a worktree, seen without `ao`; with paths that are left out, and all below them. */
export function pictureOf(path: string, leftOut: readonly string[] = []) {
  const raw = (...args: readonly string[]) => rawGit(path, ...args);
  return {
    files: filesOf(path, "").filter(
      (line) => !leftOut.some((out) => line.startsWith(`${out} `) || line.startsWith(`${out}/`)),
    ),
    status: raw("status", "--porcelain=v2", "-z", "--untracked-files=all"),
    index: raw("ls-files", "--stage", "-v", "-z"),
    // Not what is changed: its answer rests on times until the file is read again (git-update-index(1), --really-refresh).
    intentToAdd: raw("diff-files", "-z", "--name-status", "--diff-filter=AD", "--ignore-submodules"),
    head: readFileSync(join(gitDirOf(path), "HEAD"), "utf8"),
    refs: raw("for-each-ref", "--format=%(refname) %(objectname)")
      .split("\n")
      .filter((line) => !line.startsWith("refs/ao/")),
    words: words(path),
  };
}

/** What git says in words of what is under way. */
function words(path: string): string {
  const text = rawGit(path, "status", "--untracked-files=no");
  // From where HEAD was detached stands in its log, which goes with a worktree.
  return text.replace(/^(HEAD detached (at|from) .*|Not currently on any branch\.)$/m, "");
}

function rawGit(path: string, ...args: readonly string[]): string {
  // A look must not refresh the index of a repository inside.
  const env = { ...GIT_ENV, GIT_OPTIONAL_LOCKS: "0" };
  const options = { cwd: "/", env, extendEnv: false, encoding: "latin1" } as const;
  return execaSync("git", ["-C", path, ...args], options).stdout;
}

/** The private git directory of a worktree. */
function gitDirOf(path: string): string {
  return readFileSync(join(path, ".git"), "utf8").slice("gitdir: ".length).trimEnd();
}

/** One line for each file, link and folder: path, kind, permissions, content. The `.git` at the top is left out. */
function filesOf(root: string, folder: string): readonly string[] {
  const lines: string[] = [];
  const at = (path: string) => Buffer.from(`${Buffer.from(root).toString("latin1")}/${path}`, "latin1");
  for (const name of readdirSync(at(folder), { encoding: "buffer" })) {
    const path = folder === "" ? name.toString("latin1") : `${folder}/${name.toString("latin1")}`;
    if (path === ".git") continue;
    if (lstatSync(at(path)).isDirectory()) lines.push(entryLine(path, at(path)), ...filesOf(root, path));
    else lines.push(entryLine(path, at(path)));
  }
  return lines.sort();
}

function entryLine(path: string, place: Buffer): string {
  const found = lstatSync(place);
  const mode = (found.mode & 0o7777).toString(8);
  if (found.isDirectory()) return `${path} folder ${mode}`;
  if (found.isSymbolicLink()) return `${path} link ${readlinkSync(place, "latin1")}`;
  return found.isFile()
    ? `${path} file ${mode} ${found.size} ${hash(readFileSync(place))}`
    : `${path} ${found.isFIFO() ? "pipe" : "other"} ${mode}`;
}

function hash(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** All that a salvage must not touch: every file of the worktree's and the repository's git but objects and refs/ao. */
export function gitFilesOf(world: SalvageWorld): Readonly<Record<string, string>> {
  const gitDir = join(world.repository.path, ".git");
  const found: Record<string, string> = {};
  for (const name of readdirSync(gitDir, { recursive: true, encoding: "utf8" })) {
    if (/^(objects|refs\/ao)(\/|$)/.test(name) || !lstatSync(join(gitDir, name)).isFile()) continue;
    found[name] = hash(readFileSync(join(gitDir, name)));
  }
  return found;
}
