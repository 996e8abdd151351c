import { AoError } from "../../../domain/errors.ts";
import type { OperationId } from "../../../domain/operation.ts";
import type { SpareBase } from "../../../ports/spares.ts";
import type { WorkspacePlan, WorkspaceRef } from "../../../ports/workspace.ts";
import { addWorktree } from "../add-worktree.ts";
import { refuseTaken } from "../claim-folder.ts";
import { forgetStale } from "../create-worktree.ts";
import { keepHeadLog } from "../lost-commits.ts";
import { claim, known, unlockMade } from "../make-worktree.ts";
import { type Marker, writeMarker } from "../marker.ts";
import { openedFor, planOf } from "../opened-repository.ts";
import type { Context } from "../place.ts";
import { openRepository, type Repository } from "../repository.ts";
import { resolveInside } from "../safe-path.ts";
import { snapshotMade } from "../snapshot-made.ts";
import { type UndoStep, undoAfter } from "../undo.ts";
import { spareState } from "./spare-state.ts";

/** `Spares.plan`. The plan is one of no branch, so that taking it back leaves branches alone. */
export async function planSpare(
  context: Context,
  ref: WorkspaceRef,
  { baseRef, baseCommit, operationId }: SpareBase & { readonly operationId: OperationId },
): Promise<WorkspacePlan> {
  const path = await resolveInside(context.managedRoot, ref.path);
  await refuseTaken(path);
  const repository = await openRepository(context.git, ref.repositoryPath);
  const plan = { operationId, path, branch: "", branchExists: true, baseRef, baseCommit, warnings: [] };
  return planOf(repository, plan);
}

/** `Spares.make`: folder, worktree and mark, in that order. */
export async function makeSpare(outer: Context, ref: WorkspaceRef, plan: WorkspacePlan): Promise<void> {
  const context = { ...outer, git: outer.git.forOperation(plan.operationId) };
  const repository = openedFor(plan) ?? (await openRepository(context.git, ref.repositoryPath));
  const { path } = plan;
  const { sessionId } = ref;
  await forgetStale(context, { repository, path, sessionId });
  const undo: UndoStep[] = [];
  try {
    await claim(context, { repository, path, spec: { sessionId }, plan }, undo);
    await fill(context, repository, { ref, plan });
  } catch (error) {
    throw await undoAfter(known(error, path), undo);
  }
}

/** The mark of a spare comes last: what has none is not finished, and nobody takes it. */
async function fill(
  context: Context,
  repository: Repository,
  { ref, plan }: { readonly ref: WorkspaceRef; readonly plan: WorkspacePlan },
): Promise<void> {
  const { git } = context;
  const { path, baseCommit, operationId } = plan;
  const { record } = await addWorktree({ ...context, repository, path, branch: baseCommit, operationId });
  const marker = markerOf(context, ref, plan);
  await keepHeadLog(record.gitDir);
  await writeMarker(record.gitDir, marker);
  const rule = () => context.ignoredRule(marker);
  const put = await snapshotMade(git, path, { commandsRan: false, known: [], rule });
  const state = await spareState(git, path);
  await refuseOtherCommit(context, plan);
  await writeMarker(record.gitDir, { ...marker, put, spare: { baseCommit, state } });
  await unlockMade(repository, path, operationId);
}

/** A hook may have gone on from where git left it. */
async function refuseOtherCommit({ git }: Context, { path, baseCommit }: WorkspacePlan): Promise<void> {
  const head = await git.read({ kind: "directory", path }, ["rev-parse", "--verify", "--quiet", "HEAD"]);
  if (head.stdout.trim() === baseCommit) return;
  throw new AoError("git_failed", `a git hook led the new worktree ${path} away from ${baseCommit}`, {
    hint: "see the post-checkout hook of the repository: git rev-parse --git-path hooks/post-checkout",
    details: { path },
  });
}

function markerOf({ managedRoot }: Context, ref: WorkspaceRef, { operationId }: WorkspacePlan): Marker {
  const { sessionId, projectId, repositoryPath } = ref;
  const createdAtMs = Date.now();
  return { sessionId, projectId, managedRoot, repositoryPath, operationId, createdAtMs, put: [] };
}
