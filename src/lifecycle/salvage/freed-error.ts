import { AoError, errorMessage, isAoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";

/** A worktree that is gone, and where the work is that was in it; `null` when nothing was. */
export interface FreedWorktree {
  readonly id: SessionId;
  readonly salvageRef: string | null;
  /** The branch that went with it; `null` or absent for none. */
  readonly branchDeleted?: string | null;
}

/**
 * What a failure is once the worktree is gone: never one that promises that nothing was changed, and it says that
 * it is gone and where its work is. The loss of a claim stays what it is.
 */
export function freedError(error: unknown, { id, salvageRef, ...rest }: FreedWorktree): unknown {
  if (isAoError(error, "operation_in_progress") || isFreedError(error)) return error;
  const kept = salvageRef === null ? "" : `, its work is kept in ${salvageRef}`;
  const { code, details } = isAoError(error) ? error : { code: "internal", details: {} };
  return new AoError(
    "teardown_incomplete",
    `the worktree of session ${id} was freed${kept}, and a step after that failed: ${errorMessage(error)}`,
    {
      hint: "ao reconcile finishes it",
      details: { ...details, code, id, workspaceFreed: true, workspacePath: null, salvageRef, ...rest },
      cause: error,
    },
  );
}

/** Whether an error says that the worktree is gone all the same. */
export function isFreedError(error: unknown): error is AoError {
  return isAoError(error, "teardown_incomplete") && error.details["workspaceFreed"] === true;
}

/** Runs what comes once a worktree is gone. @throws AoError teardown_incomplete as `freedError` */
export async function afterFreed<Result>(freed: FreedWorktree, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw freedError(error, freed);
  }
}
