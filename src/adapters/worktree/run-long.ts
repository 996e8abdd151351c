import type { StdioOptions } from "node:child_process";
import { randomUUID } from "node:crypto";
import { constants, type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AoError } from "../../domain/errors.ts";
import { endOnExit, endWhenLate, signalGroup } from "./process-group.ts";
import { type NotStarted, startChild } from "./start-child.ts";

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
  | NotStarted;

const OUTPUT_TAIL_BYTES = 64 * 1024;

/**
 * Runs a program that may itself start others: it leads a process group, which is ended as a whole when the
 * time is up (TERM, KILL after 2 s), when it failed, and when this process exits. What it left in the
 * background after success goes on.
 *
 * `output` is the last 64 KiB of stdout and stderr together. It goes through a nameless file, not a pipe, so
 * that a background child holding it open keeps nobody waiting.
 *
 * @throws AoError git_failed when there is no place for that file, neither in `TMPDIR` nor in `/tmp`.
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
  const { program, args, cwd, env, timeoutMs } = run;
  const stdio: StdioOptions = ["ignore", output.fd, output.fd];
  const started = await startChild(program, args, { cwd, env, stdio, detached: true });
  if (started.kind === "not_started") return started;

  const { child, pid } = started;
  const release = endOnExit(pid, "SIGKILL");
  const watch = endWhenLate(pid, timeoutMs);
  const exit = new Promise<{ readonly exitCode: number | null }>((resolve) => {
    child.once("exit", (exitCode) => resolve({ exitCode }));
  });
  const result = await Promise.race([exit, watch.givenUp]);
  const isLate = watch.stop();
  release();
  if (isLate || result?.exitCode !== 0) signalGroup(pid, "SIGKILL");
  if (result === undefined) child.unref();
  const text = await tail(output);
  return isLate
    ? { kind: "timed_out", output: text }
    : { kind: "ended", exitCode: result?.exitCode ?? null, output: text };
}

/** The same for all processors (asm-generic/fcntl.h); it goes with O_DIRECTORY, which is not. */
const O_TMPFILE = 0o20000000;

async function namelessFile(): Promise<FileHandle> {
  const folders = [...new Set([tmpdir(), "/tmp"])];
  for (const folder of folders) {
    const file = (await openUnnamed(folder)) ?? (await openNameless(join(folder, `ao-${randomUUID()}`)));
    if (file !== undefined) return file;
  }
  throw new AoError("git_failed", `no temporary file could be made in ${folders.join(" or ")}`, {
    hint: "set TMPDIR to a folder that you may write to",
    details: { folders },
  });
}

/**
 * A file that never had a name, which no killed process leaves behind: open(2) of Linux, O_TMPFILE, which Node has
 * no word for. `undefined` where there is none.
 */
async function openUnnamed(folder: string): Promise<FileHandle | undefined> {
  if (process.platform !== "linux") return undefined;
  const { O_RDWR, O_APPEND, O_DIRECTORY } = constants;
  return open(folder, O_RDWR | O_APPEND | O_DIRECTORY | O_TMPFILE, 0o600).catch(() => undefined);
}

async function openNameless(path: string): Promise<FileHandle | undefined> {
  const file = await open(path, "ax+", 0o600).catch(() => undefined);
  if (file !== undefined) await unlink(path);
  return file;
}

async function tail(file: FileHandle): Promise<string> {
  const { size } = await file.stat();
  const length = Math.min(size, OUTPUT_TAIL_BYTES);
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString("utf8");
}
