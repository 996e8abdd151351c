import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";

export interface LongRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export type LongResult =
  | { readonly kind: "ended"; readonly exitCode: number | null; readonly output: string }
  | { readonly kind: "timed_out"; readonly output: string }
  | { readonly kind: "not_started"; readonly cause: unknown };

const TERM_GRACE_MS = 2_000;
const OUTPUT_TAIL_BYTES = 64 * 1024;

/**
 * Runs a program that may itself start others: it leads a process group, which is ended as a whole when the
 * time is up (TERM, KILL after 2 s), when it failed, and when this process exits. What it left in the
 * background after success goes on.
 *
 * `output` is the last 64 KiB of stdout and stderr together. It goes through a nameless file, not a pipe, so
 * that a background child holding it open keeps nobody waiting.
 */
export async function runLong(run: LongRun): Promise<LongResult> {
  const output = await namelessFile();
  try {
    return await runInto(output, run);
  } finally {
    await output.close();
  }
}

async function runInto(output: FileHandle, run: LongRun): Promise<LongResult> {
  const sink = createWriteStream("", { fd: output.fd, autoClose: false });
  const child = execa(run.program, run.args, {
    cwd: run.cwd,
    env: run.env,
    extendEnv: false,
    reject: false,
    stdin: "ignore",
    stdout: sink,
    stderr: sink,
    detached: true,
    cleanup: false,
  });
  const { pid } = child;
  if (pid === undefined) return { kind: "not_started", cause: (await child).cause };

  const release = endOnExit(pid);
  const watch = endWhenLate(pid, run.timeoutMs);
  const result = await child;
  const late = watch.stop();
  release();
  if (result.exitCode !== 0) signalGroup(pid, "SIGKILL");
  const text = await tail(output);
  return late
    ? { kind: "timed_out", output: text }
    : { kind: "ended", exitCode: result.exitCode ?? null, output: text };
}

const running = new Set<number>();

/** One listener for all groups, however many run at once. */
function endOnExit(pid: number): () => void {
  running.add(pid);
  if (running.size === 1) process.once("exit", endAll);
  return () => {
    running.delete(pid);
    if (running.size === 0) process.removeListener("exit", endAll);
  };
}

function endAll(): void {
  for (const pid of running) signalGroup(pid, "SIGKILL");
}

function endWhenLate(pid: number, timeoutMs: number): { stop(): boolean } {
  let late = false;
  let kill: NodeJS.Timeout | undefined;
  const term = setTimeout(() => {
    late = true;
    signalGroup(pid, "SIGTERM");
    kill = setTimeout(() => signalGroup(pid, "SIGKILL"), TERM_GRACE_MS);
  }, timeoutMs);
  return {
    stop() {
      clearTimeout(term);
      clearTimeout(kill);
      return late;
    },
  };
}

function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended already: there is nothing left to signal.
  }
}

async function namelessFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `ao-${randomUUID()}`);
  const file = await open(path, "ax+", 0o600);
  await unlink(path);
  return file;
}

async function tail(file: FileHandle): Promise<string> {
  const { size } = await file.stat();
  const length = Math.min(size, OUTPUT_TAIL_BYTES);
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString("utf8");
}
