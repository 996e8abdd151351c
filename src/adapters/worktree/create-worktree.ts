import { AoError } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { FindingKind } from "../../domain/workspace-finding.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceSpec } from "../../ports/workspace.ts";
import { planBranch } from "./branch-plan.ts";
import { refuseTaken } from "./claim-folder.ts";
import { inspectPlace } from "./inspect-place.ts";
import { makeWorktree } from "./make-worktree.ts";
import { openedFor, planOf } from "./opened-repository.ts";
import type { Context } from "./place.ts";
import { checkPutPaths } from "./put-files.ts";
import { forgetWorktree } from "./remove-worktree.ts";
import { openRepository, type Repository } from "./repository.ts";
import { resolveInside } from "./safe-path.ts";
import { findRecord, type WorktreeRecord } from "./worktree-records.ts";

/** `Workspace.plan`: everything that can be refused is, before the first thing is made. */
export async function planWorktree(context: Context, spec: WorkspaceSpec): Promise<WorkspacePlan> {
  const path = await freePlace(context, spec);
  const repository = await openRepository(context.git, spec.repositoryPath);
  const record = await findRecord(repository.commonDir, path);
  if (record !== undefined) await refuseHeld(context, { repository, path, record });
  const branchPlan = await planBranch(context.git, repository, { ...spec, path });
  return planOf(repository, { operationId: spec.operationId, path, ...branchPlan });
}

/** `Workspace.create`. */
export async function createWorktree(
  context: Context,
  spec: WorkspaceSpec,
  plan: WorkspacePlan,
): Promise<CreatedWorkspace> {
  const path = await freePlace(context, spec);
  const repository = openedFor(plan) ?? (await openRepository(context.git, spec.repositoryPath));
  spec.fence?.();
  await forgetStale(context, { repository, path, sessionId: spec.sessionId });
  return makeWorktree(context, { repository, path, spec, plan });
}

/** The resolved path of the worktree to be, where nothing is. */
async function freePlace(context: Context, spec: WorkspaceSpec): Promise<string> {
  checkPutPaths("symlinks", spec.postCreate.symlinks);
  checkPutPaths("copy", spec.postCreate.copy);
  const path = await resolveInside(context.managedRoot, spec.path);
  await refuseTaken(path);
  return path;
}

interface Stale {
  readonly repository: Repository;
  readonly path: string;
  readonly sessionId: string;
}

/**
 * Drops git's record of a worktree whose folder somebody deleted, which would stand in the way of a new one.
 *
 * @throws AoError workspace_exists when it is locked or the only thing that still holds some commits.
 */
export async function forgetStale(context: Context, stale: Stale): Promise<void> {
  const { repository, path } = stale;
  const record = await findRecord(repository.commonDir, path);
  if (record === undefined) return;
  await refuseHeld(context, { repository, path, record });
  await forgetWorktree({ ...context, ...stale });
}

export interface Remembered {
  readonly repository: Repository;
  readonly path: string;
  readonly record: WorktreeRecord;
}

/** @throws AoError workspace_exists when the record is worth something. */
export async function refuseHeld(context: Context, { repository, path, record }: Remembered): Promise<void> {
  const findings = await inspectPlace(context, { kind: "gone", path, record });
  if (findings.length === 0) return;
  const why = findings.map(({ detail }) => detail).join(", ");
  throw new AoError(
    "workspace_exists",
    `git still remembers a worktree at ${path}, deleted by hand: ${why}`,
    {
      hint: hintFor({ repository, path, record }, new Set(findings.map(({ kind }) => kind))),
      details: { path, findings },
    },
  );
}

function hintFor({ repository, path, record }: Remembered, found: ReadonlySet<FindingKind>): string {
  if (found.has("locked"))
    return `git -C ${shellQuoted(repository.path)} worktree unlock ${shellQuoted(path)}`;
  if (found.has("unreachable_commits"))
    return `git -C ${shellQuoted(repository.path)} branch <name> <commit>`;
  return `see what it is: git --git-dir=${shellQuoted(record.gitDir)} diff --cached`;
}
