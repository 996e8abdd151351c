import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AoError, isAoError } from "../../domain/errors.ts";
import type { OperationOwner } from "../../domain/operation.ts";
import type { Locks } from "../../ports/locks.ts";
import type { ProcessTable } from "../../ports/process-table.ts";
import { forgetHolder, readHolder, sayHolder } from "./holder-file.ts";
import { type HeldFile, openLockFile } from "./lock-file.ts";

export interface FileLocksOptions {
  /** Folder of the lock files, one for each name; made when needed. */
  readonly dir: string;
  /** What those who wait are told of this process. */
  readonly self: Omit<OperationOwner, "sinceMs">;
  readonly processes: Pick<ProcessTable, "look">;
}

/** Tries come ever less often, so that fifty who wait take no time from the one who works. */
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 25;

/** Locks between all processes of this machine that use the same folder; the system frees those of the dead. */
export function fileLocks(options: FileLocksOptions): Locks {
  const { dir, self } = options;
  return {
    async withLock(name, work, { waitMs }) {
      const path = join(dir, createHash("sha256").update(name).digest("hex").slice(0, 32));
      const held = await waitFor({ path, name, waitMs, processes: options.processes });
      try {
        sayHolder(holderPath(path), { ...self, sinceMs: Date.now() });
        return await work();
      } finally {
        forgetHolder(holderPath(path));
        held.release();
      }
    },
    async sweep() {
      const names = await readdir(dir).catch(() => []);
      for (const name of names) if (name.endsWith(HOLDER)) sweepOne(join(dir, name.slice(0, -HOLDER.length)));
    },
  };
}

const HOLDER = ".holder";
const holderPath = (path: string): string => path + HOLDER;

/** To take the lock rolls back what its dead holder began; one that is held, or cannot be taken, is left alone. */
function sweepOne(path: string): void {
  try {
    const file = openLockFile(path);
    const held = file.tryLock();
    if (held !== undefined) forgetHolder(holderPath(path));
    (held?.release ?? file.close)();
  } catch (error) {
    if (!isAoError(error, "data_dir_unusable")) throw error;
  }
}

interface Wanted {
  readonly path: string;
  readonly name: string;
  readonly waitMs: number;
  readonly processes: Pick<ProcessTable, "look">;
}

async function waitFor(wanted: Wanted): Promise<HeldFile> {
  const { path, waitMs } = wanted;
  const file = openLockFile(path);
  const untilMs = performance.now() + waitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const held = file.tryLock();
    if (held !== undefined) return held;
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) break;
    await sleep(Math.min(leftMs, pauseMs * (0.5 + Math.random())));
  }
  file.close();
  throw heldByOther(wanted, await readHolder(holderPath(path), wanted.processes));
}

function heldByOther({ name, waitMs }: Wanted, holder: OperationOwner | null): AoError {
  const who = holder === null ? "another process" : `${holder.command} (process ${holder.process.pid})`;
  const message = `${name} is held by ${who}, and was not free within ${waitMs / 1000} s`;
  return new AoError("operation_in_progress", message, { hint: "try again", details: { holder } });
}
