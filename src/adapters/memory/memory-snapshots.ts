import { AoError } from "../../domain/errors.ts";
import {
  type HeadPosition,
  nextSalvageNumber,
  parseSalvageRef,
  salvageRef,
  type Unkeepable,
  unkeepableFinding,
} from "../../domain/salvage.ts";
import type { Conflict, Snapshots } from "../../ports/snapshots.ts";
import type { WorkspaceRef } from "../../ports/workspace.ts";
import { memoryCheckpoints } from "./memory-checkpoints.ts";
import {
  contentOf,
  countOther,
  fileConflicts,
  indexConflicts,
  inOrder,
  isSameState,
  isUnworked,
  missingOf,
  parted,
} from "./snapshot-rules.ts";
import { enter, failAt, type Kept, missing, newCommit, type SnapshotWorld } from "./snapshot-world.ts";
import type { MemoryWorkspace } from "./workspace.ts";
import { COMMITTED, isReproducible, type MemoryWork, memoryWork, type WorkState } from "./workspace-files.ts";

const NO_COMMIT = "0".repeat(40);

/** The snapshots port without git, with the levers a test pulls. */
export interface MemorySnapshots extends Snapshots {
  /** One entry a call that changes something, in order: `snapshots.<method> <session>`. */
  readonly log: string[];
  /** Files and index of the workspaces, as an agent changes them. */
  readonly work: MemoryWork;
  /** What the workspace at `path` has that no salvage can hold. */
  spoil(path: string, unkeepable: readonly Unkeepable[]): void;
  /** The next call of `method` changes nothing and throws `error`. */
  failNext(method: keyof Snapshots, error: Error): void;
}

export interface MemorySnapshotsOptions {
  readonly workspace: MemoryWorkspace;
  /** Where the calls are written down; a log of its own when absent. */
  readonly log?: string[];
}

/** An in-memory twin of the snapshots on git; passes the same contract. */
export function memorySnapshots({ workspace, log = [] }: MemorySnapshotsOptions): MemorySnapshots {
  const world: SnapshotWorld = {
    ...{ log, workspace, work: memoryWork(workspace), commits: 0 },
    ...{ kept: new Map(), numbers: new Map(), taken: new Map(), spoilt: new Map(), failures: new Map() },
  };
  return {
    log,
    work: world.work,
    spoil: (path, unkeepable) => void world.spoilt.set(path, unkeepable),
    failNext: (method, error) =>
      void world.failures.set(method, [...(world.failures.get(method) ?? []), error]),
    ...salvages(world),
    ...putting(world),
    ...memoryCheckpoints(world),
  };
}

function salvages(
  world: SnapshotWorld,
): Pick<Snapshots, "salvage" | "obstacles" | "holds" | "list" | "show" | "drop"> {
  const { kept } = world;
  return {
    async salvage({ workspace, reason, atMs, fence }) {
      enter(world, "salvage", workspace.sessionId);
      const state = stateOf(world, workspace);
      if (state === undefined || isUnworked(state)) return { kind: "nothing" };
      const own = [...kept.values()].filter(({ salvage }) => salvage.sessionId === workspace.sessionId);
      const newest = own.at(-1);
      if (newest !== undefined && isSameState(newest.state, state)) {
        return { kind: "kept", ref: newest.salvage.ref, commit: newest.salvage.commit };
      }
      fence?.();
      const { sessionId } = workspace;
      const number = nextSalvageNumber([world.numbers.get(sessionId) ?? 0]);
      world.numbers.set(sessionId, number);
      const ref = salvageRef(sessionId, number);
      const commit = newCommit(world);
      const head = headAt(world, workspace);
      kept.set(ref, { state, salvage: { ref, sessionId, number, commit, atMs, reason, head } });
      return { kind: "kept", ref, commit };
    },
    obstacles: async ({ path }) => world.spoilt.get(path) ?? [],
    async holds({ workspace, ref }) {
      failAt(world, "holds");
      const found = find(world, ref);
      const state = stateOf(world, workspace);
      return state === undefined || isSameState(found.state, state);
    },
    async list(_repositoryPath, sessionId) {
      failAt(world, "list");
      const all = [...kept.values()].map(({ salvage }) => salvage);
      return all
        .filter((salvage) => sessionId === undefined || salvage.sessionId === sessionId)
        .sort(inOrder);
    },
    async show(_repositoryPath, ref) {
      failAt(world, "show");
      const { salvage, state } = find(world, ref);
      return contentOf(salvage, state);
    },
    async drop(_repositoryPath, ref) {
      enter(world, "drop", parseSalvageRef(ref)?.sessionId ?? ref);
      kept.delete(parseSalvageRef(ref)?.ref ?? ref);
    },
  };
}

function putting(world: SnapshotWorld): Pick<Snapshots, "putBack" | "rewind"> {
  const { work } = world;
  return {
    async putBack({ workspace, ref, fence }) {
      enter(world, "putBack", workspace.sessionId);
      const { state } = find(world, ref);
      const there = work.state(standing(world, workspace));
      refuse(workspace.path, [
        ...fileConflicts({ there: there.files, wanted: state.files, safe: COMMITTED }),
        ...indexConflicts(there, state),
      ]);
      fence?.();
      const loose = [...there.files].filter(([file]) => !COMMITTED.has(file));
      const files = new Map([...loose, ...state.files]);
      const absent = missingOf(state.special, there.special);
      const missing = absent.filter(({ kind }) => kind !== "pipe");
      const special = [...there.special, ...absent.filter(({ kind }) => kind === "pipe")];
      work.replace(workspace.path, { files, staged: state.staged, special });
      return { files: countOther(there.files, files), ...(missing.length === 0 ? {} : { missing }) };
    },
    async rewind({ workspace, checkpointRef: ref, salvageRef: held, fence }) {
      enter(world, "rewind", workspace.sessionId);
      const taken = world.taken.get(ref);
      if (taken === undefined) throw missing("checkpoint_not_found", ref);
      const there = work.state(standing(world, workspace));
      const safe = held === null ? COMMITTED : find(world, held).state.files;
      const [ignored, seen] = parted(there.files);
      const lost = [...seen.keys()].filter((file) => !taken.files.has(file));
      const wanted = new Map([...taken.files, ...lost.map((file) => [file, null] as const)]);
      refuse(workspace.path, fileConflicts({ there: seen, wanted, safe }));
      fence?.();
      work.replace(workspace.path, { ...there, files: new Map([...ignored, ...taken.files]) });
      return { files: countOther(seen, taken.files) };
    },
  };
}

function find({ kept }: SnapshotWorld, ref: string): Kept {
  const found = kept.get(parseSalvageRef(ref)?.ref ?? ref);
  if (found === undefined) throw missing("salvage_not_found", ref);
  return found;
}

function standing({ workspace }: SnapshotWorld, { path }: WorkspaceRef): string {
  if (workspace.exists(path)) return path;
  throw new AoError("git_failed", `there is no worktree at ${path}`, { details: { path } });
}

/** @throws AoError salvage_conflict */
function refuse(path: string, conflicts: readonly Conflict[]): void {
  if (conflicts.length === 0) return;
  const details = { path, conflicts };
  throw new AoError("salvage_conflict", `nothing was put back into ${path}`, { details });
}

/** No workspace of the twin has commits of its own. */
function headAt({ workspace }: SnapshotWorld, { path }: WorkspaceRef): HeadPosition {
  const branch = workspace.branchAt(path);
  return branch === null ? { kind: "detached", commit: NO_COMMIT } : { kind: "branch", branch, commit: null };
}

/** What a salvage would keep; `undefined` when there is no workspace. @throws AoError workspace_dirty */
function stateOf({ spoilt, workspace, work }: SnapshotWorld, { path }: WorkspaceRef): WorkState | undefined {
  if (!workspace.exists(path)) return undefined;
  const unkeepable = spoilt.get(path) ?? [];
  if (unkeepable.length > 0) {
    const details = { path, unkeepable, findings: [unkeepableFinding(unkeepable)] };
    throw new AoError("workspace_dirty", `${path} holds what cannot be kept`, { details });
  }
  const there = work.state(path);
  return { ...there, files: new Map([...there.files].filter(([file]) => !isReproducible(file))) };
}
