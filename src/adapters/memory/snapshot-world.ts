import type { Checkpoint } from "../../domain/checkpoint.ts";
import { AoError } from "../../domain/errors.ts";
import type { Salvage, Unkeepable } from "../../domain/salvage.ts";
import type { Snapshots } from "../../ports/snapshots.ts";
import type { MemoryWorkspace } from "./workspace.ts";
import type { Files, MemoryWork, WorkState } from "./workspace-files.ts";

/** A salvage, and what it holds. */
export interface Kept {
  readonly salvage: Salvage;
  readonly state: WorkState;
}

/** A checkpoint, and the files it holds. */
export interface Taken {
  readonly checkpoint: Checkpoint;
  readonly files: Files;
}

/** What there is of snapshots, and how the next calls fail. */
export interface SnapshotWorld {
  readonly log: string[];
  readonly workspace: MemoryWorkspace;
  readonly work: MemoryWork;
  readonly kept: Map<string, Kept>;
  /** The last number of each session. */
  readonly numbers: Map<string, number>;
  readonly taken: Map<string, Taken>;
  readonly spoilt: Map<string, readonly Unkeepable[]>;
  readonly failures: Map<keyof Snapshots, Error[]>;
  commits: number;
}

/** Writes down a call that changes something, and fails it when a test said so. */
export function enter(world: SnapshotWorld, method: keyof Snapshots, whose: string): void {
  world.log.push(`snapshots.${method} ${whose}`);
  failAt(world, method);
}

/** Fails a call when a test said so. */
export function failAt({ failures }: SnapshotWorld, method: keyof Snapshots): void {
  const failure = failures.get(method)?.shift();
  if (failure !== undefined) throw failure;
}

/** The id of another commit. */
export function newCommit(world: SnapshotWorld): string {
  world.commits += 1;
  return world.commits.toString(16).padStart(40, "c");
}

/** The error of a snapshot that is not there. */
export function missing(code: "salvage_not_found" | "checkpoint_not_found", ref: string): AoError {
  return new AoError(code, `there is no ${ref}`, { details: { ref } });
}
