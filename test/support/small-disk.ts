import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { makeReadOnly, type ReadOnly, type Start } from "./read-only.ts";

/** A folder whose room can run out. */
export interface SmallDisk {
  /** From now on there is none. */
  fill(): void;
  /** There is again. */
  free(): void;
  /** Starts a program that has no more room than there is. */
  readonly start: Start;
}

/** Puts a folder, made when needed, on a small disk of its own; `otherwise` is used where none may be mounted. */
export function smallDisk(folder: string, sizeMib: number, otherwise: () => SmallDisk): SmallDisk {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const argv = ["-t", "tmpfs", "-o", `size=${sizeMib}m,mode=700`, "tmpfs", folder];
  if (spawnSync("mount", argv).status !== 0) return otherwise();
  onTestFinished(() => void spawnSync("umount", ["-l", folder]));
  const filler = join(folder, "filler");
  return { fill: () => fill(filler), free: () => rmSync(filler), start: (program) => program };
}

function fill(path: string): void {
  const file = openSync(path, "w");
  for (const size of [65_536, 4096, 512, 1]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size));
    } catch {
      // Full to this size.
    }
  }
  closeSync(file);
}

/**
 * In place of a disk, for a program that writes in many places: while it is full every write to a file fails with
 * EFBIG, those to what is there already too (setrlimit(2)).
 */
export function limitedFiles(): SmallDisk {
  let isFull = false;
  const set = (value: boolean) => () => {
    isFull = value;
  };
  const limited = ["/bin/sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$0" "$@"'];
  return {
    fill: set(true),
    free: set(false),
    start: (program) => (isFull ? [...limited, ...program] : program),
  };
}

/** In place of a disk, for one folder: while it is full every write in there fails with EACCES. */
export function closedFolder(folder: string): SmallDisk {
  let closed: ReadOnly | undefined;
  return {
    fill: () => {
      closed = makeReadOnly(folder);
    },
    free: () => closed?.allow(),
    start: (program) => closed?.start(program) ?? program,
  };
}
