import type { Readable } from "node:stream";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { endOnExit, endWhenLate, signalGroup } from "./process-group.ts";
import { type NotStarted, startChild } from "./start-child.ts";

export interface CapturedRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** What it reads; nothing when absent. */
  readonly input: string | Uint8Array | undefined;
  /** How its output is taken for text; `latin1` is one character a byte. UTF-8 when not given. */
  readonly encoding?: "utf8" | "latin1";
  /** Of each of its two outputs. */
  readonly maxBytes: number;
}

export type CapturedResult =
  | { readonly kind: "ended"; readonly exitCode: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "signalled"; readonly signal: string }
  | { readonly kind: "timed_out" }
  | { readonly kind: "too_much" }
  | NotStarted;

/** Without a word for so long, who still holds the output of a program that has ended is not waited for. */
const QUIET_MS = 200;
/** Enough to empty any pipe of the system, also when somebody goes on writing into it. */
const MAX_PAUSES = 10;

/**
 * Runs a program in `/` and returns what it wrote. It leads a process group, which is ended as a whole when the
 * time is up (TERM, KILL after 2 s), when a signal ended it or it wrote too much; TERM when this process exits.
 *
 * Settles 200 ms after the program's own end when a child of it holds its output open, 2 s when that one goes on
 * writing, and within 6 s of the timeout whatever happens. What it left in the background after it ended by itself
 * goes on.
 */
export async function runCaptured(run: CapturedRun): Promise<CapturedResult> {
  const { program, args, env, input } = run;
  const stdin = input === undefined ? "ignore" : "pipe";
  const started = await startChild(program, args, {
    ...{ cwd: "/", env, detached: true, stdio: [stdin, "pipe", "pipe"] },
  });
  if (started.kind === "not_started") return started;
  const { child, pid } = started;
  child.stdin?.on("error", () => undefined).end(input);
  const release = endOnExit(pid, "SIGTERM");
  const watch = endWhenLate(pid, run.timeoutMs);
  const onFull = () => signalGroup(pid, "SIGKILL");
  const outputs = [child.stdout, child.stderr]
    .flatMap((stream) => stream ?? [])
    .map((stream) => collect(stream, run, onFull));
  const exit = new Promise<Exit>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const ended = await Promise.race([exit, watch.givenUp]);
  const isLate = watch.stop();
  if (isLate || ended?.exitCode === null) signalGroup(pid, "SIGKILL");
  await drained(outputs);
  release();
  for (const output of outputs) output.drop();
  if (ended === undefined) child.unref();
  return resultOf(ended, outputs, isLate);
}

interface Exit {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
}

function resultOf(ended: Exit | undefined, outputs: readonly Output[], isLate: boolean): CapturedResult {
  if (isLate || ended === undefined) return { kind: "timed_out" };
  if (outputs.some((output) => output.isFull())) return { kind: "too_much" };
  if (ended.exitCode === null) return { kind: "signalled", signal: ended.signal ?? "a signal" };
  const [stdout = "", stderr = ""] = outputs.map((output) => output.text());
  return { kind: "ended", exitCode: ended.exitCode, stdout, stderr };
}

interface Output {
  /** Resolves when nobody holds the other end any more. */
  readonly closed: Promise<void>;
  bytes(): number;
  isFull(): boolean;
  text(): string;
  drop(): void;
}

function collect(stream: Readable, { maxBytes, encoding = "utf8" }: CapturedRun, onFull: () => void): Output {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    const wasFull = bytes > maxBytes;
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else if (!wasFull) onFull();
  });
  return {
    closed: new Promise((resolve) => void stream.once("close", resolve)),
    bytes: () => bytes,
    isFull: () => bytes > maxBytes,
    text: () => Buffer.concat(chunks).toString(encoding),
    drop: () => void stream.destroy(),
  };
}

/** What a program wrote before it ended is in the pipe by then, so it is read to the last byte. */
async function drained(outputs: readonly Output[]): Promise<void> {
  const written = () => outputs.reduce((sum, output) => sum + output.bytes(), 0);
  const timer = new AbortController();
  const closed = Promise.all(outputs.map((output) => output.closed)).then(() => true);
  let before = -1;
  for (let pause = 0; pause < MAX_PAUSES && before !== written(); pause += 1) {
    before = written();
    const paused = sleep(QUIET_MS, false, { signal: timer.signal }).catch(() => false);
    if (await Promise.race([closed, paused])) break;
    // Timers come before reads in a turn: a busy machine may have let the time pass with bytes waiting.
    await nextTurn();
  }
  timer.abort();
}
