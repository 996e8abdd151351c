import { checkpointRef, checkpointsOf } from "../../../domain/checkpoint.ts";
import { AoError } from "../../../domain/errors.ts";
import { salvageRef } from "../../../domain/salvage.ts";
import type { FaultPoint } from "../../../ports/fault-point.ts";
import type { Snapshots } from "../../../ports/snapshots.ts";
import { contextOf, type GitWorktreesOptions } from "../git-worktrees.ts";
import type { Context } from "../place.ts";
import { openRepository } from "../repository.ts";
import {
  adoptCheckpoint,
  findCheckpoint,
  findCheckpoints,
  forgetCheckpoint,
  plainCheckpoint,
  storeFiles,
  takeCheckpoint,
} from "./checkpoints.ts";
import { fileChanges } from "./file-changes.ts";
import { hasRecord, hasState, keepWork, unkeepableIn } from "./keep-work.ts";
import { type Plumbing, plumbingAt } from "./plumbing.ts";
import { putBack } from "./put-back.ts";
import { readSettings } from "./repository-settings.ts";
import { rewindFiles } from "./rewind.ts";
import { dropSalvage, findSalvage, plainSalvage, showSalvage } from "./salvage-list.ts";
import { findSalvages } from "./salvage-refs.ts";
import { withSystemFailures } from "./system-failures.ts";
import { findStanding, type SnapshotContext, standingWork, workAt } from "./work-at.ts";

export interface GitSnapshotsOptions extends GitWorktreesOptions {
  /** Crossed around each step that lasts; nothing when not given. */
  readonly boundary?: FaultPoint;
}

/** The snapshots port on git: commits under `refs/ao/`. */
export function gitSnapshots(options: GitSnapshotsOptions): Snapshots {
  const context = { ...contextOf(options), boundary: options.boundary ?? (async () => {}) };
  return { ...salvages(context), ...checkpoints(context), ...comparing(context) };
}

type Checkpointing = "take" | "forget" | "checkpoints" | "rewind";

function salvages(context: SnapshotContext): Omit<Snapshots, Checkpointing | "adopt" | "changes"> {
  return {
    salvage: ({ workspace, reason, atMs, fence }) =>
      withSystemFailures("keep the work", async () => {
        const work = await workAt({ ...context, fence }, workspace);
        if (work === undefined) return { kind: "nothing" };
        const { keeping, chosen } = work;
        return keepWork(keeping, { sessionId: workspace.sessionId, chosen, reason, atMs });
      }),

    obstacles: (workspace) =>
      withSystemFailures("tell whether the work can be kept", async () => {
        const work = await workAt(context, workspace);
        return work === undefined ? [] : unkeepableIn(work.keeping, work.chosen);
      }),

    holds: ({ workspace, ref }) =>
      withSystemFailures("tell whether all of the work is kept", async () => {
        const kept = await findSalvage(await repositoryAt(context, workspace.repositoryPath), ref);
        const work = await workAt(context, workspace);
        if (work === undefined) return true;
        return work.isRecord ? hasRecord(work.keeping, kept) : hasState(work.keeping, work.chosen, kept);
      }),

    putBack: ({ workspace, ref, fence }) =>
      withSystemFailures("put the work back", async () => {
        const keeping = await standingWork({ ...context, fence }, workspace);
        const { commit } = await findSalvage(keeping.plumbing, ref);
        return putBack(keeping, commit);
      }),

    async list(repositoryPath, sessionId) {
      const prefix = sessionId === undefined ? "refs/ao/salvage/" : salvageRef(sessionId);
      const found = await findSalvages(await repositoryAt(context, repositoryPath), prefix);
      return found.map(plainSalvage);
    },

    async show(repositoryPath, ref) {
      const plumbing = await repositoryAt(context, repositoryPath);
      return showSalvage(plumbing, (await readSettings(plumbing)).format, ref);
    },

    drop: async (repositoryPath, ref) => dropSalvage(await repositoryAt(context, repositoryPath), ref),
  };
}

function checkpoints(context: SnapshotContext): Pick<Snapshots, Checkpointing> {
  return {
    take: (workspace, turnId, edge, { withinMs, isAnew = false } = {}) =>
      withSystemFailures("keep a checkpoint", async () => {
        const git = withinMs === undefined ? context.git : context.git.within(withinMs);
        const keeping = await findStanding({ ...context, git }, workspace);
        if (keeping === undefined) return null;
        const request = { sessionId: workspace.sessionId, turnId, edge, isAnew, atMs: Date.now() };
        const { ref, commit } = await takeCheckpoint(keeping, request);
        return { ref, commit };
      }),

    async forget({ repositoryPath, sessionId }, turnId, edge) {
      const plumbing = await repositoryAt(context, repositoryPath);
      await forgetCheckpoint(plumbing, checkpointRef(sessionId, turnId, edge));
    },

    async checkpoints(repositoryPath, sessionId) {
      const plumbing = await repositoryAt(context, repositoryPath);
      return (await findCheckpoints(plumbing, checkpointsOf(sessionId))).map(plainCheckpoint);
    },

    rewind: ({ workspace, checkpointRef: ref, salvageRef: held, fence }) =>
      withSystemFailures("rewind the files", async () => {
        const keeping = await standingWork({ ...context, fence }, workspace);
        const checkpoint = await findCheckpoint(keeping.plumbing, ref);
        if (checkpoint === undefined) throw noCheckpoint(ref);
        const salvage = held === null ? null : (await findSalvage(keeping.plumbing, held)).commit;
        return rewindFiles(keeping, { checkpoint: checkpoint.commit, salvage });
      }),
  };
}

function comparing(context: SnapshotContext): Pick<Snapshots, "adopt" | "changes"> {
  return {
    async adopt(repositoryPath, from, as) {
      const plumbing = await repositoryAt(context, repositoryPath);
      const checkpoint = await findCheckpoint(plumbing, from);
      if (checkpoint === undefined) throw noCheckpoint(from);
      const adopted = await adoptCheckpoint(plumbing, checkpoint, as);
      if (adopted === undefined) throw noCheckpoint(checkpointRef(as.sessionId, as.turnId, "end"));
      return { ref: adopted.ref, commit: adopted.commit };
    },

    async changes(repositoryPath, { since, now }) {
      const plumbing = await repositoryAt(context, repositoryPath);
      await requireCommit(plumbing, since);
      if ("commit" in now) {
        await requireCommit(plumbing, now.commit);
        return fileChanges(plumbing, since, now.commit);
      }
      const keeping = await findStanding(context, now.workspace);
      return keeping === undefined
        ? null
        : fileChanges(keeping.plumbing, since, (await storeFiles(keeping)).tree);
    },
  };
}

/** @throws AoError git_failed when there is no repository any more. */
async function repositoryAt({ git }: Context, path: string): Promise<Plumbing> {
  const { commonDir } = await openRepository(git, path);
  return plumbingAt(git, { gitDir: commonDir, commonDir, root: null });
}

/** @throws AoError checkpoint_not_found */
async function requireCommit(plumbing: Plumbing, commit: string): Promise<void> {
  const { exitCode } = await plumbing.ask(["cat-file", "-e", `${commit}^{commit}`]);
  if (exitCode !== 0) throw noCheckpoint(commit);
}

function noCheckpoint(ref: string): AoError {
  return new AoError("checkpoint_not_found", `there is no checkpoint ${ref}`, { details: { ref } });
}
