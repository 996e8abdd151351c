import type { ChildProcess } from "node:child_process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { endOnExit, endWhenLate, signalGroup } from "./process-group.ts";
import { type NotStarted, startChild } from "./start-child.ts";

export interface StreamingRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What it reads. */
  readonly input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** How long neither a byte of its input nor one of its output may move. */
  readonly quietMs: number;
}

export type StreamingEnd =
  | { readonly kind: "ended"; readonly exitCode: number; readonly stderr: string }
  | { readonly kind: "signalled"; readonly signal: string }
  | { readonly kind: "timed_out" }
  | NotStarted;

export interface StreamingChild {
  /** What it writes, which has to be read. It ends early when the program does: `ended` says how. */
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves once it has ended and nobody holds its output any more. Never rejects. */
  readonly ended: Promise<StreamingEnd>;
}

/**
 * Runs a program in `/` that is talked to while it runs. It leads a process group, which is ended as a whole when
 * nothing moves for too long (TERM, KILL after 2 s), also when only a child of it holds its output open; TERM when
 * this process exits.
 */
export function runStreaming(run: StreamingRun): StreamingChild {
  const { program, args, env } = run;
  const started = startChild(program, args, { cwd: "/", env, detached: true, stdio: "pipe" });
  const ended = started.then((start) => (start.kind === "started" ? follow(start, run) : start));
  async function* output(): AsyncGenerator<Uint8Array> {
    const start = await started;
    if (start.kind === "not_started" || start.child.stdout === null) return;
    try {
      yield* start.child.stdout;
    } catch {
      // It was cut off; how the program ended is told by `ended`.
    }
  }
  return { output: output(), ended };
}

interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
}

async function follow({ child, pid }: Started, { input, quietMs }: StreamingRun): Promise<StreamingEnd> {
  const release = endOnExit(pid, "SIGTERM");
  const watch = endWhenLate(pid, quietMs);
  child.stdout?.on("data", watch.postpone);
  child.stdout?.pause();
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  if (child.stdin !== null) void pipeline(moved(input, watch.postpone), child.stdin).catch(() => undefined);
  const closed = new Promise<Exit>((resolve) => {
    child.once("close", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const exit = await Promise.race([closed, watch.givenUp]);
  const isLate = watch.stop();
  if (isLate) signalGroup(pid, "SIGKILL");
  release();
  if (exit === undefined) for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  if (isLate || exit === undefined) return { kind: "timed_out" };
  const { exitCode, signal } = exit;
  return exitCode === null
    ? { kind: "signalled", signal: signal ?? "a signal" }
    : { kind: "ended", exitCode, stderr };
}

interface Exit {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
}

function moved(input: StreamingRun["input"], onMove: () => void): Readable {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of input) {
      onMove();
      yield piece;
    }
  }
  return Readable.from(pieces());
}
