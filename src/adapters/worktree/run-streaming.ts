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
  /** Who read its output left before its end. */
  | { readonly kind: "left" }
  | NotStarted;

export interface StreamingChild {
  /**
   * What it writes, once, which has to be read. It ends early when the program does: `ended` says how. Who leaves it
   * before its end, as a loop does by `break` or an error, ends the program, and has left once that has ended.
   */
  readonly output: AsyncIterable<Uint8Array>;
  /** Resolves once it has ended and nobody holds its output any more. Never rejects. */
  readonly ended: Promise<StreamingEnd>;
}

/**
 * Runs a program in `/` that is talked to while it runs. It leads a process group, which is ended as a whole when
 * nothing moves for too long or nobody reads on (TERM, KILL after 2 s), also when only a child of it holds its output
 * open; TERM when this process exits.
 */
export function runStreaming(run: StreamingRun): StreamingChild {
  const { program, args, env } = run;
  const reader = new AbortController();
  const started = startChild(program, args, { cwd: "/", env, detached: true, stdio: "pipe" });
  const ended = started.then((start) =>
    start.kind === "started" ? follow(start, run, reader.signal) : start,
  );
  async function* pieces(): AsyncGenerator<Uint8Array, undefined> {
    const start = await started;
    if (start.kind === "not_started" || start.child.stdout === null) return;
    try {
      yield* start.child.stdout;
    } catch {
      // It was cut off; how the program ended is told by `ended`.
    }
  }
  const all = pieces();
  const leave = async () => {
    reader.abort();
    await ended;
    return all.return(undefined);
  };
  const output = { [Symbol.asyncIterator]: () => ({ next: () => all.next(), return: leave }) };
  return { output, ended };
}

interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
}

async function follow(
  { child, pid }: Started,
  { input, quietMs }: StreamingRun,
  reader: AbortSignal,
): Promise<StreamingEnd> {
  const release = endOnExit(pid, "SIGTERM");
  const watch = endWhenLate(pid, quietMs);
  child.stdout?.on("data", watch.postpone);
  child.stdout?.pause();
  whenLeft(reader, () => {
    watch.expire();
    child.stdout?.destroy();
  });
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
  if (exit === undefined) letGo(child);
  if (isLate || exit === undefined) return { kind: reader.aborted ? "left" : "timed_out" };
  const { exitCode, signal } = exit;
  return exitCode === null
    ? { kind: "signalled", signal: signal ?? "a signal" }
    : { kind: "ended", exitCode, stderr };
}

function whenLeft(reader: AbortSignal, onLeft: () => void): void {
  if (reader.aborted) onLeft();
  else reader.addEventListener("abort", onLeft, { once: true });
}

function letGo({ stdin, stdout, stderr }: ChildProcess): void {
  for (const stream of [stdin, stdout, stderr]) stream?.destroy();
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
