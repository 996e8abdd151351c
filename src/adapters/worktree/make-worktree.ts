import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AoError, errorMessage, isAoError } from "../../domain/errors.ts";
import type { OperationId } from "../../domain/operation.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceSpec } from "../../ports/workspace.ts";
import { type AddedWorktree, addWorktree } from "./add-worktree.ts";
import { makeBranch, removeBranch, removeOwnBranch } from "./branch-refs.ts";
import { claimFolder, hideFrom } from "./claim-folder.ts";
import { keepHeadLog } from "./lost-commits.ts";
import { type Marker, writeMarker } from "./marker.ts";
import { isBeingMade, markedEnvironment } from "./operation-marks.ts";
import type { Context } from "./place.ts";
import { ledAway, type PlannedHead } from "./planned-head.ts";
import { adoptSpare } from "./pool/adopt-spare.ts";
import { putFiles, runCommands } from "./post-create.ts";
import { forgetWorktree, removeWorktree } from "./remove-worktree.ts";
import type { Repository } from "./repository.ts";
import { snapshotMade } from "./snapshot-made.ts";
import { type UndoStep, undoAfter } from "./undo.ts";
import { findRecord, lockReason } from "./worktree-records.ts";

export interface Making {
  readonly repository: Repository;
  /** Resolved; nothing is there and git remembers nothing of it. */
  readonly path: string;
  readonly spec: WorkspaceSpec;
  readonly plan: WorkspacePlan;
}

interface Claimed extends Pick<Making, "repository" | "path"> {
  readonly spec: Pick<WorkspaceSpec, "sessionId" | "fence">;
  readonly plan: Pick<WorkspacePlan, "operationId">;
}

/**
 * Makes branch, folder, worktree and what is put into it, in that order; on failure exactly those that this
 * call made are taken back.
 *
 * @throws AoError as `Workspace.create`; `details.left` names what could not be taken back.
 */
export async function makeWorktree(outer: Context, making: Making): Promise<CreatedWorkspace> {
  const context = { ...outer, git: outer.git.forOperation(making.plan.operationId) };
  const undo: UndoStep[] = [];
  try {
    await makeBranchOf(context, making, undo);
    await claim(context, making, undo);
    return await fill(context, making);
  } catch (error) {
    throw await undoAfter(known(error, making.path), undo);
  }
}

/** What the system refused, for example for want of room or rights, is an answer as well. */
export function known(error: unknown, path: string): AoError {
  if (isAoError(error)) return error;
  return new AoError("git_failed", `the worktree ${path} could not be made: ${errorMessage(error)}`, {
    details: { path },
    cause: error,
  });
}

async function makeBranchOf(context: Context, making: Making, undo: UndoStep[]): Promise<void> {
  const { repository, spec, plan } = making;
  spec.fence?.();
  if (plan.branchExists) return;
  const made = { what: "branch", where: plan.branch };
  try {
    await makeBranch(context.git, repository, plan);
  } catch (error) {
    if (mayBeDone(error)) undo.push({ ...made, run: () => removeOwnBranch(context.git, repository, plan) });
    throw error;
  }
  undo.push({ ...made, run: () => removeBranch(context.git, repository, plan.branch, plan.baseCommit) });
}

/** A git that ran and did not tell how it ended, because a hook held it up for example. */
function mayBeDone(error: unknown): boolean {
  return isAoError(error, "git_unavailable") && error.details["program"] === undefined;
}

/** Makes the folder, which is ours from then on. */
export async function claim(
  context: Context,
  { repository, path, spec, plan }: Claimed,
  undo: UndoStep[],
): Promise<void> {
  await hideFrom(repository, context.managedRoot);
  spec.fence?.();
  await claimFolder(path);
  const removal = { ...context, repository, path, sessionId: spec.sessionId };
  undo.push({
    ...{ what: "worktree", where: path },
    run: async () => {
      await unlockMade(repository, path, plan.operationId);
      const removed = await removeWorktree(removal, path);
      if (!removed) await forgetWorktree(removal);
    },
  });
}

async function fill(context: Context, making: Making): Promise<CreatedWorkspace> {
  const { repository, path, spec, plan } = making;
  const { postCreate } = spec;
  const { branch, branchExists, baseRef, baseCommit, operationId } = plan;
  const isDetached = plan.detached === true;
  const start = isDetached ? baseCommit : branch;
  spec.fence?.();
  const added =
    (await adopted(context, making)) ??
    (await addWorktree({ ...context, repository, path, branch: start, operationId }));
  const { gitDir } = added.record;
  const head = { git: context.git, gitDir, branch: isDetached ? null : branch };
  await refuseLedAway(head, path);
  await keepHeadLog(gitDir);
  await writeMarker(gitDir, markerOf(context, making));
  const files = await putFiles(repository, path, postCreate);
  await writeMarker(gitDir, { ...markerOf(context, making), put: files.put });
  const env = markedEnvironment(spec.env, operationId);
  await runCommands(postCreate.commands, { path, env, timeoutMs: postCreate.timeoutMs, head });
  const commandsRan = postCreate.commands.length > 0;
  const rule = () => context.ignoredRule(markerOf(context, making));
  const made = await snapshotMade(context.git, path, { commandsRan, known: files.put, rule });
  if (made.length > 0)
    await writeMarker(gitDir, { ...markerOf(context, making), put: [...files.put, ...made] });
  await unlockMade(repository, path, operationId);
  const warnings = [...plan.warnings, ...added.warnings, ...files.warnings];
  return { path, branch, branchCreated: !branchExists, baseRef, baseCommit, warnings };
}

/** One that was made ahead, where that is asked for and there is one at the very commit. */
async function adopted(
  context: Context,
  { repository, path, spec, plan }: Making,
): Promise<AddedWorktree | undefined> {
  const { branch, branchExists, baseCommit, operationId } = plan;
  if (spec.mayBeSpare !== true || branchExists || operationId === null) return undefined;
  const { projectId } = spec;
  return adoptSpare(context, { repository, path, projectId, branch, baseCommit, operationId });
}

/** Only a hook can have done that: git itself has just checked the branch out. */
async function refuseLedAway(head: PlannedHead, path: string): Promise<void> {
  const away = await ledAway(head);
  if (away === undefined) return;
  throw new AoError("git_failed", `a git hook led the new worktree ${path} ${away}`, {
    hint: "see the post-checkout hook of the repository: git rev-parse --git-path hooks/post-checkout",
    details: { path, branch: head.branch },
  });
}

/** Takes off the lock that says that it is being made; as `git worktree unlock` does it. */
export async function unlockMade(
  repository: Repository,
  path: string,
  operationId: OperationId | null,
): Promise<void> {
  const record = await findRecord(repository.commonDir, path);
  if (record === undefined || !isBeingMade(await lockReason(record), operationId)) return;
  await rm(join(record.gitDir, "locked"), { force: true });
}

function markerOf({ managedRoot }: Context, { spec, plan }: Making): Marker {
  const { sessionId, projectId, repositoryPath } = spec;
  const { operationId } = plan;
  const createdAtMs = Date.now();
  return { sessionId, projectId, managedRoot, repositoryPath, operationId, createdAtMs, put: [] };
}
