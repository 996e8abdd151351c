import type { KillReason } from "../domain/apply-requests.ts";
import type { SessionId } from "../domain/ids.ts";
import type { OnStep, SessionDeps } from "./deps.ts";

export interface KillOptions {
  readonly reason: KillReason;
  readonly note: string | null;
  readonly keepWorktree: boolean;
  /** The session that the command runs in (`AO_SESSION_ID`); `null` outside of one. */
  readonly callerSessionId: SessionId | null;
  readonly onStep?: OnStep;
}

export interface KillResult {
  readonly id: SessionId;
  /** There is no worktree of this session any more. */
  readonly workspaceFreed: boolean;
  readonly alreadyTerminated: boolean;
  readonly salvageRef: null;
  /** Where the worktree still is; `null` when it was freed. */
  readonly workspacePath: string | null;
}

/**
 * Ends a session: the intent is recorded, the agent ended, then the worktree freed when nothing in it
 * would be lost. Killing a terminated session finishes what an earlier kill left.
 *
 * @throws AoError session_not_found, inside_session
 * @throws AoError not_running when no runtime was ever recorded; nothing was changed.
 * @throws AoError workspace_dirty when the worktree holds work; the session is terminated, the worktree
 *   untouched, `details` is the result with `findings`. Not for a session that was terminated before.
 * @throws AoError runtime_unavailable, teardown_incomplete when the agent could not be ended; the
 *   worktree is untouched.
 */
export declare function killSession(
  deps: SessionDeps,
  id: SessionId,
  options: KillOptions,
): Promise<KillResult>;
