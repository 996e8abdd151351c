import { readFile, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkspacePlan, WorkspaceRef } from "../../ports/workspace.ts";
import { removeOwnBranch } from "./branch-refs.ts";
import { discardOrphaned } from "./discard-orphaned.ts";
import { endStrays } from "./end-strays.ts";
import { entryAt, namesAt, unseen } from "./entry-at.ts";
import { freeWorktree } from "./free-worktree.ts";
import { refuseWorkIn } from "./half-made.ts";
import { readMarker } from "./marker.ts";
import { isBeingMade, lockReasonOf } from "./operation-marks.ts";
import type { Context } from "./place.ts";
import { settleAdoption } from "./pool/settle-adoption.ts";
import { removeEmptyFolders, removeFolder } from "./remove-worktree.ts";
import { type Repository, readRepository } from "./repository.ts";
import { isBelow, realpathOfAny, resolveInside, unsafePath } from "./safe-path.ts";
import { saysNothing } from "./system-error.ts";
import { findRecord, lockReason, readGitLink, type WorktreeRecord } from "./worktree-records.ts";

interface Discarding {
  readonly context: Context;
  readonly ref: WorkspaceRef;
  readonly plan: WorkspacePlan;
  readonly repository: Repository;
  /** Resolved. */
  readonly path: string;
}

/**
 * `Workspace.discard`: children first, then the folder, then git's record of it, then the branch. What was
 * complete when its maker died may have been worked in since, and is freed as any other.
 */
export async function discardWorktree(
  context: Context,
  ref: WorkspaceRef,
  plan: WorkspacePlan,
): Promise<void> {
  const path = await resolveInside(context.managedRoot, ref.path);
  if (plan.path !== path) throw unsafePath(path, `the plan was for ${plan.path}`);
  await endStrays(context.processes, plan.operationId);
  const repository = await readRepository(context.git, ref.repositoryPath);
  if (repository === undefined) return discardOrphaned(context, ref, path);
  const discarding = { context, ref, plan, repository, path };
  const { projectId } = ref;
  await settleAdoption(context, { repository, path, projectId, operationId: plan.operationId });
  const record = await freeIfMade(discarding, await ownRecord(discarding));
  await refuseForeign(discarding, record);
  await discardFolder(discarding, record);
  await removeRecords(discarding, record);
  await removeEmptyFolders(await realpathOfAny(context.managedRoot), dirname(path));
  if (!plan.branchExists) await removeOwnBranch(context.git, repository, plan);
}

/**
 * git's record of the folder when this operation made it. One of a folder that is gone and was another's
 * is none of our business.
 *
 * @throws AoError workspace_unsafe_path when it is another's.
 */
async function ownRecord(discarding: Discarding): Promise<WorktreeRecord | undefined> {
  const { path, repository, ref, plan, context } = discarding;
  const record = await findRecord(repository.commonDir, path);
  if (record === undefined) return undefined;
  const marker = await readMarker(record.gitDir);
  const isOwn =
    marker === undefined || (marker.spare !== undefined && marker.sessionId !== ref.sessionId)
      ? isBeingMade(await lockReason(record), plan.operationId)
      : marker.sessionId === ref.sessionId &&
        marker.managedRoot === context.managedRoot &&
        marker.operationId === plan.operationId;
  if (isOwn) return record;
  if (await isMissing(path)) return undefined;
  throw unsafePath(path, `operation ${plan.operationId} of ${ref.sessionId} did not make it`);
}

/** The record of what is only half made, which is still to be taken back. */
async function freeIfMade(
  { context, ref, plan }: Discarding,
  record: WorktreeRecord | undefined,
): Promise<WorktreeRecord | undefined> {
  if (record === undefined || !(await isMade(record, plan))) return record;
  await freeWorktree(context, ref, { deletes: true });
  return undefined;
}

/** Its marker comes before its lock goes, and with the lock the making is over. */
async function isMade(record: WorktreeRecord, { operationId }: WorkspacePlan): Promise<boolean> {
  const [marker, reason] = await Promise.all([readMarker(record.gitDir), lockReason(record)]);
  return marker !== undefined && !isBeingMade(reason, operationId);
}

/** Somebody may have begun to work in what is only half made. @throws AoError workspace_dirty */
async function refuseForeign(discarding: Discarding, record: WorktreeRecord | undefined): Promise<void> {
  const { context, path } = discarding;
  if ((await readGitLink(path)).kind !== "link") return;
  const marker = record === undefined ? undefined : await readMarker(record.gitDir);
  await refuseWorkIn(context, { ...discarding, marker });
}

async function discardFolder(
  { context, ref, repository, path }: Discarding,
  record: WorktreeRecord | undefined,
): Promise<void> {
  await rmdir(path).catch(() => undefined);
  if (await isMissing(path)) return;
  const link = await readGitLink(path);
  // Without its record it is one that git had begun to take back itself.
  const isOwn =
    link.kind === "link" &&
    (record === undefined
      ? isBelow(join(repository.commonDir, "worktrees"), link.gitDir) &&
        (await entryAt(link.gitDir, "git_unavailable")) === undefined
      : link.gitDir === record.gitDir);
  if (!isOwn) throw unsafePath(path, "it is not what git made there");
  await removeFolder({ ...context, sessionId: ref.sessionId, path }, path);
}

/** As git does it itself: the record's folder and, when it was the last one, the folder around it. */
async function removeRecords(discarding: Discarding, record: WorktreeRecord | undefined): Promise<void> {
  const folder = join(discarding.repository.commonDir, "worktrees");
  const nameless = await namelessRecords(discarding, folder);
  for (const gitDir of record === undefined ? nameless : [record.gitDir, ...nameless]) {
    await rm(gitDir, { recursive: true, force: true });
  }
  await rmdir(folder).catch(() => undefined);
}

const HALF_MADE_MS = 100;

/**
 * Records that git was killed over before it had written of which folder they are: with our reason, or with
 * nothing in them at all and our name. The latter may be just being written by somebody else, so it is
 * looked at twice.
 */
async function namelessRecords({ plan, path }: Discarding, folder: string): Promise<readonly string[]> {
  const isOurs = async (id: string) => {
    const [reason, gitFile] = await Promise.all(
      ["locked", "gitdir"].map((file) => textOf(join(folder, id, file))),
    );
    if (gitFile !== "") return false;
    if (plan.operationId !== null && reason === lockReasonOf(plan.operationId)) return true;
    return reason === "" && id === basename(path);
  };
  const look = async (ids: readonly string[]) => {
    const answers = await Promise.all(ids.map(isOurs));
    return ids.filter((_id, at) => answers[at]);
  };
  const found = await look(await namesAt(folder, "git_unavailable"));
  if (found.length === 0) return [];
  await sleep(HALF_MADE_MS);
  return (await look(found)).map((id) => join(folder, id));
}

/** Empty when there is none. @throws AoError git_unavailable when there is one that cannot be read */
async function textOf(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (saysNothing(error)) return "";
    throw unseen(file, error, "git_unavailable");
  }
}

async function isMissing(path: string): Promise<boolean> {
  return (await entryAt(path)) === undefined;
}
