import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { AoError } from "../../domain/errors.ts";
import { endOnExit, endWhenLate, signalGroup } from "./process-group.ts";

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

  const release = endOnExit(pid, "SIGKILL");
  const watch = endWhenLate(pid, run.timeoutMs);
  const result = await Promise.race([child, watch.givenUp]);
  const isLate = watch.stop();
  release();
  if (isLate || result?.exitCode !== 0) signalGroup(pid, "SIGKILL");
  if (result === undefined) child.unref();
  const text = await tail(output);
  return isLate
    ? { kind: "timed_out", output: text }
    : { kind: "ended", exitCode: result?.exitCode ?? null, output: text };
}

async function namelessFile(): Promise<FileHandle> {
  const folders = [...new Set([tmpdir(), "/tmp"])];
  for (const folder of folders) {
    const file = await openNameless(join(folder, `ao-${randomUUID()}`));
    if (file !== undefined) return file;
  }
  throw new AoError("git_failed", `no temporary file could be made in ${folders.join(" or ")}`, {
    hint: "set TMPDIR to a folder that you may write to",
    details: { folders },
  });
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
