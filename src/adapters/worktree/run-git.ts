import { AoError, errorMessage } from "../../domain/errors.ts";
import type { OperationId } from "../../domain/operation.ts";
import { gitEnvironment } from "./git-environment.ts";
import type { GitResult } from "./git-failure.ts";
import { retryHalfWritten } from "./git-retry.ts";
import { markedEnvironment } from "./operation-marks.ts";
import { type CapturedResult, runCaptured } from "./run-captured.ts";

export interface GitOptions {
  /** Program to run; a bare name is looked up in `PATH`. */
  readonly gitPath?: string;
  /** The caller's environment; what would lead git to another repository is taken out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** For each call except `worktree add`, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Where a call works: found from a folder, or a git directory named outright with its files elsewhere. */
export type GitLocation =
  | { readonly kind: "directory"; readonly path: string }
  | { readonly kind: "git_dir"; readonly gitDir: string; readonly workTree: string | null };

/** The git program. Neither call rejects on an exit code: that is an answer. */
export interface Git {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /**
   * Runs a command that changes nothing: no optional lock, no file system monitor, no fetch of objects.
   *
   * @throws AoError git_unavailable when git is missing or did not answer in time.
   */
  read(where: GitLocation, args: readonly string[], input?: string): Promise<GitResult>;
  /** @throws AoError git_unavailable as `read`. */
  write(where: GitLocation, args: readonly string[]): Promise<GitResult>;
  /** The same program with more in its environment. */
  withEnv(more: Readonly<Record<string, string>>): Git;
  /** The same program, its processes marked as children of the operation. */
  forOperation(operationId: OperationId | null): Git;
  /** The same program, all of whose calls together have so many milliseconds from now on. */
  within(ms: number): Git;
  /** What is left of that for a call that has `timeoutMs` otherwise; at least 1. */
  timeFor(timeoutMs: number): number;
}

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;
const READ_ENV = { GIT_OPTIONAL_LOCKS: "0", GIT_NO_LAZY_FETCH: "1" };
const READ_OPTIONS = ["-c", "core.fsmonitor=false", "-c", "core.quotePath=false"];

/** Where git starts; the path has to be absolute. */
export const inDirectory = (path: string): GitLocation => ({ kind: "directory", path });

/** Runs git for all of this adapter. The working directory is never the caller's, which may be gone. */
export function gitRunner(options: GitOptions = {}): Git {
  const env = markedEnvironment(gitEnvironment(options.env ?? process.env), null);
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  return gitWith({ program: options.gitPath ?? "git", env, timeoutMs, untilMs: Number.POSITIVE_INFINITY });
}

interface Program extends Pick<GitCall, "program" | "env" | "timeoutMs"> {
  /** By the clock that only goes forward. */
  readonly untilMs: number;
}

function gitWith(own: Program): Git {
  const { program, env, untilMs } = own;
  const timeFor = (timeoutMs: number) => Math.max(1, Math.min(timeoutMs, untilMs - performance.now()));
  const call = (args: readonly string[], extraEnv: Readonly<Record<string, string>>, input?: string) =>
    retryHalfWritten(() => {
      const timeoutMs = timeFor(own.timeoutMs);
      return runGit({ program, args, env: { ...env, ...extraEnv }, timeoutMs, input });
    });
  return {
    program,
    env,
    read: (where, args, input) => call([...READ_OPTIONS, ...locationArgs(where), ...args], READ_ENV, input),
    write: (where, args) => call([...locationArgs(where), ...args], {}),
    withEnv: (more) => gitWith({ ...own, env: { ...env, ...more } }),
    forOperation: (id) => gitWith({ ...own, env: markedEnvironment(env, id) }),
    within: (ms) => gitWith({ ...own, untilMs: Math.min(untilMs, performance.now() + ms) }),
    timeFor,
  };
}

/** The options that lead git to `where`; they stand before the command. */
export function locationArgs(where: GitLocation): readonly string[] {
  if (where.kind === "directory") return ["-C", where.path];
  const gitDir = `--git-dir=${where.gitDir}`;
  return where.workTree === null ? [gitDir] : ["-C", where.workTree, gitDir, `--work-tree=${where.workTree}`];
}

export interface GitCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly input: string | Uint8Array | undefined;
  /** UTF-8 when not given. */
  readonly encoding?: "utf8" | "latin1";
}

/**
 * One run of git.
 *
 * @throws AoError git_unavailable when it could not be started, was ended by a signal or a timeout.
 */
export async function runGit(call: GitCall): Promise<GitResult> {
  const result = await runCaptured({ ...call, maxBytes: MAX_OUTPUT_BYTES });
  if (result.kind === "ended") return result;
  const isMissing = result.kind === "not_started" && ["ENOENT", "EACCES"].includes(result.code ?? "");
  if (isMissing) throw gitMissing(call.program, result.cause);
  throw new AoError("git_unavailable", `git did not answer: ${whyNot(result, call)}`, {
    hint: result.kind === "timed_out" ? "a hook, a filter or the disk may hang; try again" : "run ao doctor",
    details: { args: call.args, why: result.kind },
    cause: result.kind === "not_started" ? result.cause : undefined,
  });
}

function whyNot(result: Exclude<CapturedResult, { readonly kind: "ended" }>, { timeoutMs }: GitCall): string {
  switch (result.kind) {
    case "signalled":
      return `${result.signal} ended it`;
    case "timed_out":
      return `it and all it had started were ended after ${Math.ceil(timeoutMs) / 1000} s`;
    case "too_much":
      return `it wrote more than ${MAX_OUTPUT_BYTES / 1024 ** 2} MiB`;
    case "not_started":
      return errorMessage(result.cause);
  }
}

/** The error for a git program that could not be started at all. */
export function gitMissing(program: string, cause: unknown): AoError {
  return new AoError("git_unavailable", `git could not be started: ${program} was not found`, {
    hint: "install git 2.25 or later and see that it is in PATH",
    details: { program },
    cause,
  });
}
