import { tmpdir } from "node:os";
import { AoError } from "../../../domain/errors.ts";
import type { FaultPoint } from "../../../ports/fault-point.ts";
import type { Fence } from "../../../ports/fence.ts";
import type { WorkspaceRef } from "../../../ports/workspace.ts";
import { type Context, locate, type Place } from "../place.ts";
import type { Repository } from "../repository.ts";
import type { WorktreeRecord } from "../worktree-records.ts";
import { bytePathOf } from "./byte-path.ts";
import { type ChosenWork, chooseWork } from "./choose-work.ts";
import type { Keeping, KeepingWork } from "./keep-work.ts";
import { type Observation, observe } from "./observe.ts";
import { observeRecord } from "./observe-record.ts";
import { plumbingAt } from "./plumbing.ts";
import { refuseUnkeepable } from "./refuse-unkeepable.ts";
import { readSettings } from "./repository-settings.ts";

export interface SnapshotContext extends Context {
  readonly boundary: FaultPoint;
  /** Of the one who asks; nobody's when not given. */
  readonly fence?: Fence | undefined;
}

/** A session's worktree with all that is to be kept of it. */
export interface WorkAt {
  readonly keeping: KeepingWork;
  readonly chosen: ChosenWork;
  /** Its folder is gone, and only git still knows of it. */
  readonly isRecord: boolean;
}

/**
 * The work of a session: in its worktree, in what an interrupted removal moved aside, or in what git still has
 * of one that somebody deleted. `undefined` when there is nothing at all.
 *
 * @throws AoError workspace_unsafe_path when something else is there, workspace_dirty when it cannot be read.
 */
export async function workAt(context: SnapshotContext, ref: WorkspaceRef): Promise<WorkAt | undefined> {
  const { repository, place } = await locate(context, ref);
  switch (place.kind) {
    case "standing":
      return treeAt(context, repository, { place, record: place.owned.record, root: place.path });
    case "held":
      return treeAt(context, repository, { place, record: place.owned.record, root: place.tree });
    case "gone":
      return place.record === undefined
        ? undefined
        : recordAt(context, repository, { place, record: place.record });
    case "unreadable":
      refuseUnkeepable(place.path, [{ path: bytePathOf("."), why: place.cause }]);
      return undefined;
  }
}

/** A session's worktree when it stands. @throws AoError workspace_unsafe_path */
export async function findStanding(
  context: SnapshotContext,
  ref: WorkspaceRef,
): Promise<Keeping | undefined> {
  const { repository, place } = await locate(context, ref);
  if (place.kind !== "standing") return undefined;
  return keepingOf(context, repository, { ...place.owned, root: place.path });
}

/** A session's worktree, which has to stand. @throws AoError git_failed when it does not, and as `findStanding`. */
export async function standingWork(context: SnapshotContext, ref: WorkspaceRef): Promise<Keeping> {
  const keeping = await findStanding(context, ref);
  if (keeping !== undefined) return keeping;
  throw new AoError("git_failed", `there is no worktree at ${ref.path}`, {
    hint: `ao restore ${ref.sessionId}`,
    details: { path: ref.path },
  });
}

interface Known {
  readonly place: Place;
  readonly record: WorktreeRecord;
}

async function treeAt(
  context: SnapshotContext,
  repository: Repository | undefined,
  { place, record, root }: Known & { readonly root: string },
): Promise<WorkAt> {
  const [keeping, chosen] = await Promise.all([
    keepingOf(context, repository, { record, root }),
    chooseWork(context, place),
  ]);
  const work = { ...keeping, observe: (observation: Observation) => observe(keeping, observation) };
  return { keeping: work, chosen, isRecord: false };
}

async function recordAt(
  context: SnapshotContext,
  repository: Repository | undefined,
  { place, record }: Known,
): Promise<WorkAt> {
  const [keeping, chosen] = await Promise.all([
    keepingOf(context, repository, { record, root: tmpdir() }),
    chooseWork(context, place),
  ]);
  const work = { ...keeping, observe: ({ folder }: Observation) => observeRecord(keeping, folder) };
  return { keeping: work, chosen, isRecord: true };
}

async function keepingOf(
  { git, boundary, fence = () => {} }: SnapshotContext,
  repository: Repository | undefined,
  { record, root }: { readonly record: WorktreeRecord; readonly root: string },
): Promise<Keeping> {
  const { gitDir } = record;
  const commonDir = repository?.commonDir ?? gitDir;
  const plumbing = plumbingAt(git, { gitDir, commonDir, root });
  return { git, boundary, fence, plumbing, root, settings: await readSettings(plumbing) };
}
