import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execaSync } from "execa";
import { tempDir } from "./temp-dir.ts";

/** The environment of every git of a test: nobody's configuration, a fixed author. */
export const GIT_ENV: Readonly<Record<string, string>> = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  LC_ALL: "C.UTF-8",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ALLOW_PROTOCOL: "file",
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@example.com",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@example.com",
  GIT_EDITOR: "true",
};

/** Runs git in a folder and returns its stdout without the last line feed. Throws on any other exit than 0. */
export function gitIn(directory: string, ...args: readonly string[]): string {
  const options = { cwd: "/", env: GIT_ENV, extendEnv: false } as const;
  return execaSync("git", ["-C", directory, ...args], options).stdout;
}

/** The exit code of git in a folder. */
export function gitExit(directory: string, ...args: readonly string[]): number {
  const options = { cwd: "/", env: GIT_ENV, extendEnv: false, reject: false } as const;
  return execaSync("git", ["-C", directory, ...args], options).exitCode ?? -1;
}

/** Writes a file and the folders above it. */
export function writeIn(directory: string, path: string, content: string): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), content);
}

/** A real repository in a temporary folder. */
export interface TestRepository {
  /** Resolved path of its main working tree. */
  readonly path: string;
  git(...args: readonly string[]): string;
  /** Writes a file, commits it and returns the commit. */
  commit(path: string, content: string): string;
  /** Local branches, sorted. */
  branches(): readonly string[];
  /** Folders of all worktrees, the main one first. */
  worktrees(): readonly string[];
}

/** A repository on branch `main` with one commit, removed when the test ends. */
export function gitRepository(directory = join(tempDir("ao-repository"), "repo")): TestRepository {
  const repository = emptyRepository(directory);
  repository.commit("readme.md", "hello\n");
  return repository;
}

/** A repository on branch `main` without any commit. */
export function emptyRepository(directory = join(tempDir("ao-repository"), "repo")): TestRepository {
  mkdirSync(directory, { recursive: true });
  gitIn(directory, "init", "-q", "-b", "main");
  return repositoryAt(directory);
}

/** The same handle on a repository that exists. */
export function repositoryAt(path: string): TestRepository {
  const git = (...args: readonly string[]) => gitIn(path, ...args);
  return {
    path,
    git,
    commit(file, content) {
      writeIn(path, file, content);
      git("add", "--", file);
      git("commit", "-qm", `change ${file}`);
      return git("rev-parse", "HEAD");
    },
    branches: () =>
      git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split("\n").filter(Boolean),
    worktrees: () =>
      git("worktree", "list", "--porcelain")
        .split("\n")
        .filter((line) => line.startsWith("worktree "))
        .map((line) => line.slice("worktree ".length)),
  };
}
