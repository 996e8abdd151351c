import type { ProjectId, SessionId } from "../domain/ids.ts";
import type { SkipReason } from "../domain/workspace-finding.ts";
import type { OnStep, SessionDeps } from "./deps.ts";

export interface CleanupOptions {
  /** `null` means all projects. */
  readonly projectId: ProjectId | null;
  readonly dryRun: boolean;
  /** Least time since termination, in milliseconds; `null` for any. */
  readonly olderThanMs: number | null;
  readonly onStep?: OnStep;
}

export interface CleanedSession {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  readonly salvageRef: null;
}

export interface SkippedSession {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  readonly reason: SkipReason;
  readonly detail: string;
}

export interface FailedSession {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  readonly message: string;
}

export interface CleanupResult {
  readonly cleaned: readonly CleanedSession[];
  readonly skipped: readonly SkippedSession[];
  readonly errors: readonly FailedSession[];
  readonly dryRun: boolean;
}

/**
 * Frees the worktrees of terminated sessions that hold nothing to lose. A dry run gives the same answer
 * and changes nothing. One session's failure never stops the others.
 *
 * @throws AoError runtime_unavailable, git_unavailable when it cannot see; nothing was removed then,
 *   unless git went away half-way.
 */
export declare function cleanupSessions(deps: SessionDeps, options: CleanupOptions): Promise<CleanupResult>;
