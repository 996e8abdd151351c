import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { errorMessage } from "../../domain/errors.ts";
import { clientArgs } from "./args.ts";

export interface TmuxProgram {
  /** Name or path of tmux; a name is looked up in the `PATH` of `env`. `tmux` when not given. */
  readonly tmuxPath?: string;
  /** The caller's environment; only what a server needs is passed on. `process.env` when not given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How long one call may take, in milliseconds; 5000 when not given. */
  readonly timeoutMs?: number;
}

/**
 * Why tmux said no. `server_lost` means that the server went away during the call, `not_found` that it knows no such
 * target.
 */
export type Refusal = "no_server" | "server_lost" | "duplicate_session" | "not_found" | "other";

export type TmuxAnswer =
  | { readonly kind: "ok"; readonly stdout: string }
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly message: string }
  | { readonly kind: "missing"; readonly cause: string }
  | { readonly kind: "failed"; readonly cause: string };

/** Runs tmux once. Never rejects. */
export type RunTmux = (socketPath: string, command: readonly string[], input?: string) => Promise<TmuxAnswer>;

const DEFAULT_TIMEOUT_MS = 5000;

/**
 * What the server may inherit from whoever starts it, and so every window without an environment of its
 * own. Agents get nothing of it: their launch script unsets these names first.
 */
export const SERVER_VARIABLES = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ"] as const;

/** The environment for tmux itself: no secrets, no other server's address, a UTF-8 locale. */
export function serverEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = SERVER_VARIABLES.flatMap((name): [string, string][] => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(kept), LC_ALL: "C.UTF-8" };
}

const REFUSALS: readonly (readonly [RegExp, Refusal])[] = [
  [/^duplicate session: /m, "duplicate_session"],
  [/^can't find (?:pane|window|session): /m, "not_found"],
  [/^no server running on /m, "no_server"],
  [/^error connecting to .*\((?:No such file or directory|Connection refused)\)$/m, "no_server"],
  [/^(?:lost server|server exited)/m, "server_lost"],
  // A server that has no session any more ends at once.
  [/^no current (?:target|session|client)$/m, "server_lost"],
];

/** Reads tmux's own words, as client.c, cmd-find.c and cmd-new-session.c of 3.2 to 3.6 print them. */
export function classifyRefusal(stderr: string): Refusal {
  return REFUSALS.find(([pattern]) => pattern.test(stderr))?.[1] ?? "other";
}

/** Runs tmux on a given socket with a timeout and a clean environment, never through a shell. */
export function tmuxRunner(program: TmuxProgram): RunTmux {
  return (socketPath, command, input) => runOnce(program, clientArgs(socketPath, command), input);
}

/** What `tmux -V` prints. Never rejects. */
export function askVersion(program: TmuxProgram): Promise<TmuxAnswer> {
  return runOnce(program, ["-V"]);
}

function runOnce(program: TmuxProgram, args: readonly string[], input?: string): Promise<TmuxAnswer> {
  const timeoutMs = program.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  try {
    const child = spawn(program.tmuxPath ?? "tmux", args, {
      // A server keeps the working directory of the client that started it, which must hold no worktree.
      cwd: "/",
      env: serverEnvironment(program.env ?? process.env),
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    return answerOf(child, { timeoutMs, input });
  } catch (error) {
    return Promise.resolve(notRun(error));
  }
}

/** Without file descriptors to spare a child has no streams, and emits its error in the next turn (Node 20.20). */
function answerOf(
  child: Pick<ChildProcess, "stdin" | "stdout" | "stderr" | "on" | "kill">,
  { timeoutMs, input }: { readonly timeoutMs: number; readonly input: string | undefined },
): Promise<TmuxAnswer> {
  const { stdin, stdout, stderr } = child;
  const outputs = [stdout, stderr].map(textOf);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      // A wrapper's children may hold the pipes open for ever.
      for (const stream of [stdout, stderr]) stream?.destroy();
      resolve({ kind: "failed", cause: `tmux did not answer within ${timeoutMs} ms` });
    }, timeoutMs);
    const settle = (answer: TmuxAnswer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    child.on("error", (error) => settle(notRun(error)));
    child.on("close", (exitCode, signal) => {
      const [out = "", said = ""] = outputs.map((text) => text());
      settle(endedAnswer({ exitCode, signal, stdout: out, stderr: said }));
    });
    stdin?.on("error", () => undefined).end(input);
  });
}

/** All that a stream has given so far. */
function textOf(stream: Readable | null | undefined): () => string {
  const chunks: Buffer[] = [];
  stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}

function notRun(error: unknown): TmuxAnswer {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  return isMissing
    ? { kind: "missing", cause: "tmux is not installed, or not in PATH" }
    : { kind: "failed", cause: errorMessage(error) };
}

interface Ended {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

function endedAnswer({ exitCode, signal, stdout, stderr }: Ended): TmuxAnswer {
  if (exitCode === 0) return { kind: "ok", stdout };
  const message = stderr.trim();
  if (exitCode !== null && message !== "") {
    return { kind: "refused", refusal: classifyRefusal(stderr), message };
  }
  const how = exitCode === null ? `was ended by ${signal}` : `failed with exit code ${exitCode}`;
  return { kind: "failed", cause: message || `tmux ${how}` };
}
