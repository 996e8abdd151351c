import { assertNever } from "../../domain/assert-never.ts";
import type { Remains } from "../../domain/cleanup-plan.ts";
import { EVERY_PROJECT, type ProjectId, type SessionId } from "../../domain/ids.ts";
import type { SkipReason } from "../../domain/workspace-finding.ts";
import type { PoolChange } from "../pool/pool-change.ts";
import type { RecoveryError } from "../recovery/recovery.ts";
import type { CarriedOut } from "./cleanup-apply.ts";

export interface CleanedSession {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  /** Where the work that was in its worktree is kept; `null` when nothing was, and in a dry run. */
  readonly salvageRef: string | null;
  /** What only its branch and the stashes made on it have, when it was judged; `null` for nothing. */
  readonly remains: Remains | null;
  /** The branch that went, or in a dry run would go, with it; `null` when it stays. */
  readonly branchDeleted: string | null;
}

/** A branch of a session whose worktree was freed before. */
interface DeletedBranchOf {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  readonly branch: string;
}

export interface SkippedSession {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  readonly reason: SkipReason;
  readonly detail: string;
}

export interface FailedSession {
  /** As the store has them, which may be no ids where a row cannot be read. */
  readonly id: string;
  readonly projectId: string;
  readonly message: string;
}

export interface CleanupResult {
  readonly cleaned: readonly CleanedSession[];
  /** What went, or in a dry run would go, beside the branches of `cleaned`. */
  readonly branchesDeleted: readonly DeletedBranchOf[];
  readonly skipped: readonly SkippedSession[];
  readonly errors: readonly FailedSession[];
  readonly dryRun: boolean;
}

/** All that the command tells. */
export interface CleanupReport extends CleanupResult {
  /** Worktrees that were made ahead and are of no use any more. */
  readonly pool: readonly PoolChange[];
  readonly poolErrors: readonly RecoveryError[];
}

/** What is printed: the trouble with worktrees made ahead, which are no session's, is among the errors by what it is about. */
export type PrintedCleanup = Omit<CleanupReport, "poolErrors">;

export function printedCleanup({ poolErrors, ...report }: CleanupReport): PrintedCleanup {
  const ofPools = poolErrors.map(({ subject, message }) => ({
    ...{ id: subject, projectId: EVERY_PROJECT, message },
  }));
  return { ...report, errors: [...report.errors, ...ofPools] };
}

/** What a cleanup tells of what it came to, in the order of its plan. */
export function tally(carriedOut: readonly CarriedOut[]): Omit<CleanupResult, "dryRun"> {
  const cleaned: CleanedSession[] = [];
  const branchesDeleted: DeletedBranchOf[] = [];
  const skipped: SkippedSession[] = [];
  const errors: FailedSession[] = [];
  for (const [{ id, projectId, action }, outcome] of carriedOut) {
    switch (outcome.kind) {
      case "cleaned": {
        const remains = action.kind === "free" ? action.remains : null;
        const { salvageRef, branchDeleted, trouble } = outcome;
        cleaned.push({ id, projectId, salvageRef, remains, branchDeleted });
        if (trouble !== null) errors.push({ id, projectId, message: trouble });
        break;
      }
      case "branch_deleted":
        branchesDeleted.push({ id, projectId, branch: outcome.branch });
        break;
      case "skip":
        skipped.push({ id, projectId, reason: outcome.reason, detail: outcome.detail });
        break;
      case "error":
        errors.push({ id, projectId, message: outcome.message });
        break;
      default:
        assertNever(outcome);
    }
  }
  return { cleaned, branchesDeleted, skipped, errors };
}
