import { AoError, errorMessage, isAoError } from "../../domain/errors.ts";
import type { CreatedWorkspace, WorkspaceSpec } from "../../ports/workspace.ts";
import { addWorktree } from "./add-worktree.ts";
import type { BranchPlan } from "./branch-plan.ts";
import { makeBranch, removeBranch } from "./branch-refs.ts";
import { claimFolder, hideFrom } from "./claim-folder.ts";
import { type Marker, writeMarker } from "./marker.ts";
import type { Context } from "./place.ts";
import { putFiles, runCommands } from "./post-create.ts";
import { forgetWorktree, removeWorktree } from "./remove-worktree.ts";
import type { Repository } from "./repository.ts";
import { snapshotMade } from "./snapshot-made.ts";
import { type UndoStep, undoAfter } from "./undo.ts";

export interface Making {
  readonly repository: Repository;
  /** Resolved; nothing is there and git remembers nothing of it. */
  readonly path: string;
  readonly spec: WorkspaceSpec;
  readonly plan: BranchPlan;
}

/**
 * Makes branch, folder, worktree and what is put into it, in that order; on failure exactly those that this
 * call made are taken back.
 *
 * @throws AoError as `Workspace.create`; `details.left` names what could not be taken back.
 */
export async function makeWorktree(context: Context, making: Making): Promise<CreatedWorkspace> {
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
function known(error: unknown, path: string): AoError {
  if (isAoError(error)) return error;
  return new AoError("git_failed", `the worktree ${path} could not be made: ${errorMessage(error)}`, {
    details: { path },
    cause: error,
  });
}

async function makeBranchOf(context: Context, making: Making, undo: UndoStep[]): Promise<void> {
  const { repository, plan } = making;
  if (plan.branchExists) return;
  await makeBranch(context.git, repository, plan);
  undo.push({
    what: `branch ${plan.branch}`,
    run: () => removeBranch(context.git, repository, plan.branch, plan.baseCommit),
  });
}

async function claim(context: Context, making: Making, undo: UndoStep[]): Promise<void> {
  const { repository, path, spec } = making;
  await hideFrom(repository, context.managedRoot);
  await claimFolder(path);
  const removal = { ...context, repository, path, sessionId: spec.sessionId };
  undo.push({
    what: `worktree ${path}`,
    run: async () => {
      const removed = await removeWorktree(removal, path);
      if (!removed) await forgetWorktree(removal);
    },
  });
}

async function fill(context: Context, making: Making): Promise<CreatedWorkspace> {
  const { git, addTimeoutMs } = context;
  const { repository, path, spec, plan } = making;
  const { postCreate, env } = spec;
  const { branch, baseRef, baseCommit } = plan;
  const added = await addWorktree({ git, repository, path, branch, timeoutMs: addTimeoutMs });
  const { gitDir } = added.record;
  await writeMarker(gitDir, markerOf(context, making));
  const files = await putFiles(repository, path, postCreate);
  await writeMarker(gitDir, { ...markerOf(context, making), put: files.put });
  await runCommands(postCreate.commands, { path, env, timeoutMs: postCreate.timeoutMs });
  const made = await snapshotMade(git, path, {
    commandsRan: postCreate.commands.length > 0,
    known: files.put,
  });
  if (made.length > 0)
    await writeMarker(gitDir, { ...markerOf(context, making), put: [...files.put, ...made] });
  return {
    path,
    branch,
    branchCreated: !plan.branchExists,
    baseRef,
    baseCommit,
    warnings: [...plan.warnings, ...added.warnings, ...files.warnings],
  };
}

function markerOf({ managedRoot }: Context, { spec }: Making): Marker {
  const { sessionId, projectId } = spec;
  return { sessionId, projectId, managedRoot, createdAtMs: Date.now(), put: [] };
}
