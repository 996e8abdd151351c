import { AoError, errorMessage } from "../../../domain/errors.ts";
import { type GitResult, gitFailed } from "../git-failure.ts";
import { retryHalfWritten } from "../git-retry.ts";
import { type Git, gitMissing, locationArgs, runGit } from "../run-git.ts";
import { runStreaming, type StreamingEnd } from "../run-streaming.ts";

/** Where git's plumbing works. All paths are resolved. */
export interface PlumbingPlace {
  /** The private git directory of a worktree, or that of the repository. */
  readonly gitDir: string;
  /** The git directory of the repository. */
  readonly commonDir: string;
  /** The working tree; `null` for none. */
  readonly root: string | null;
}

/** git's plumbing at one place: what goes in and comes out is held one character a byte. */
export interface Plumbing extends PlumbingPlace {
  /** Any exit code is an answer. @throws AoError git_unavailable */
  ask(args: readonly string[], input?: string): Promise<GitResult>;
  /** The output of a call that has to succeed. @throws AoError git_failed, git_unavailable */
  tell(action: string, args: readonly string[], input?: string): Promise<string>;
  /** A git that is talked to while it runs. Its stdout has to be read; who leaves it early ends that git. */
  start(args: readonly string[], input: string | AsyncIterable<Uint8Array>): StreamingGit;
  /** The same with more in its environment, for example `GIT_INDEX_FILE`. */
  withEnv(env: Readonly<Record<string, string>>): Plumbing;
}

export interface StreamingGit {
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves when it ended. @throws AoError git_failed, git_unavailable */
  done(action: string): Promise<void>;
}

/**
 * No hook, no monitor, no log, no clean-up on the side. Modes and links are taken as they are, and a file
 * whose stat data differ in anything is not taken for unchanged. Objects and refs reach the disk before git says
 * so: `core.fsync` came with 2.36 and `batch` with 2.37; an older git knows `core.fsyncObjectFiles`.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.untrackedCache": "false",
  "core.splitIndex": "false",
  "index.sparse": "false",
  "core.logAllRefUpdates": "false",
  "core.quotePath": "false",
  "core.fileMode": "true",
  "core.symlinks": "true",
  "core.checkStat": "default",
  "core.trustctime": "true",
  "core.ignoreStat": "false",
  "core.protectNTFS": "false",
  "core.protectHFS": "false",
  "core.bigFileThreshold": "16m",
  "core.fsync": "committed,reference",
  "core.fsyncMethod": "batch",
  "core.fsyncObjectFiles": "true",
  "fastimport.unpackLimit": "0",
  "i18n.commitEncoding": "UTF-8",
  "gc.auto": "0",
  "maintenance.auto": "false",
};
const OPTIONS = Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
const ENV = { GIT_OPTIONAL_LOCKS: "0", GIT_NO_LAZY_FETCH: "1", GIT_NO_REPLACE_OBJECTS: "1" };

/** Big repositories on slow disks take their time. */
const TIMEOUT_MS = 600_000;

/** The plumbing of `git` at a place. */
export function plumbingAt(git: Git, place: PlumbingPlace, timeoutMs = TIMEOUT_MS): Plumbing {
  const { program, env, timeFor } = git;
  return plumbingWith({ program, env: { ...env, ...ENV }, timeoutMs: () => timeFor(timeoutMs) }, place);
}

function plumbingWith(options: Omit<Call, "argsFor">, place: PlumbingPlace): Plumbing {
  const { program, env, timeoutMs } = options;
  const where = locationArgs({ kind: "git_dir", gitDir: place.gitDir, workTree: place.root });
  const call = { ...options, argsFor: (args: readonly string[]) => [...OPTIONS, ...where, ...args] };
  const ask = (args: readonly string[], input = "") =>
    retryHalfWritten(() => {
      const bytes = Buffer.from(input, "latin1");
      const own = {
        args: call.argsFor(args),
        input: bytes,
        timeoutMs: timeoutMs(),
        encoding: "latin1",
      } as const;
      return runGit({ program, env, ...own });
    });
  return {
    ...place,
    ask,
    async tell(action, args, input) {
      const result = await ask(args, input);
      if (result.exitCode !== 0) throw gitFailed(action, result.stderr);
      return result.stdout;
    },
    start: (args, input) => startGit(call, args, input),
    withEnv: (more) => plumbingWith({ ...options, env: { ...env, ...more } }, place),
  };
}

interface Call {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** For one call; of a git that is talked to, how long nothing may move. */
  timeoutMs(): number;
  argsFor(args: readonly string[]): readonly string[];
}

function startGit(
  call: Call,
  args: readonly string[],
  input: string | AsyncIterable<Uint8Array>,
): StreamingGit {
  const { program, env } = call;
  const quietMs = call.timeoutMs();
  const pieces = typeof input === "string" ? [Buffer.from(input, "latin1")] : input;
  const { output, ended } = runStreaming({ program, args: call.argsFor(args), env, input: pieces, quietMs });
  return {
    output,
    async done(action) {
      const end = await ended;
      if (end.kind !== "ended") throw noAnswer({ program, args, quietMs }, end);
      if (end.exitCode !== 0) throw gitFailed(action, end.stderr);
    },
  };
}

function noAnswer(
  {
    program,
    args,
    quietMs,
  }: { readonly program: string; readonly args: readonly string[]; readonly quietMs: number },
  end: Exclude<StreamingEnd, { readonly kind: "ended" }>,
): AoError {
  const options = { hint: "run ao doctor", details: { args } };
  const because = (why: string) => new AoError("git_unavailable", `git did not answer: ${why}`, options);
  switch (end.kind) {
    case "signalled":
      return because(`${end.signal} ended it`);
    case "timed_out":
      return because(
        `it and all it had started were ended after ${Math.ceil(quietMs) / 1000} s without a byte`,
      );
    case "left":
      return because("it and all it had started were ended, as nobody read on");
    case "not_started":
      return ["ENOENT", "EACCES"].includes(end.code ?? "")
        ? gitMissing(program, end.cause)
        : because(errorMessage(end.cause));
  }
}
