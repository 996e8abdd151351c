import type { KillReason } from "../domain/apply-requests.ts";
import type { ActivitySignal, PullRequestFacts, RuntimeObservation } from "../domain/facts.ts";
import type { LaunchId, SessionId } from "../domain/ids.ts";
import type { ProcessIdentity, RuntimeHandle, SessionMetadata, SessionRecord } from "../domain/session.ts";
import type { SessionDeps } from "./deps.ts";

/** What a request or an observation came to. */
export interface Change {
  /** The row as it stands now. */
  readonly record: SessionRecord;
  /** It was written; false means that it stood like this before. */
  readonly changed: boolean;
}

export interface StartedSession {
  readonly handle: RuntimeHandle;
  readonly process: ProcessIdentity;
}

/** What a restore starts anew; everything else of the session stays. */
export type RestorePatch = Pick<
  SessionMetadata,
  "launchId" | "agentSessionId" | "workspacePath" | "runtime" | "process"
>;

/**
 * The only writer of session rows. Every change loads, decides with a pure rule, compares, and saves
 * with a revision check in one transaction; nothing is written when nothing changed.
 *
 * Methods that return `undefined` ignore an unknown session. All may throw what the store throws.
 */
export interface LifecycleManager {
  /**
   * Adds the row of a session whose runtime is up.
   *
   * @throws AoError internal when the id is taken.
   */
  onSpawnInitiated(record: SessionRecord): SessionRecord;
  /**
   * The start of a session's agent is complete; it is heard from next.
   *
   * @throws AoError internal when the session is unknown.
   * @throws AoError not_running when the session was ended meanwhile.
   */
  onSpawnCompleted(id: SessionId, started: StartedSession): SessionRecord;
  /** Ends a session; one that is over already stays as it is. */
  onKillRequested(id: SessionId, reason: KillReason, note: string | null): Change | undefined;
  /**
   * Opens a terminal session again for its new launch.
   *
   * @throws AoError not_restorable when it is not terminal.
   * @throws AoError internal when the session is unknown.
   */
  onRestoreInitiated(id: SessionId, patch: RestorePatch): SessionRecord;
  /** A terminal session's worktree is gone. Ignored for one that was opened again. */
  onWorkspaceFreed(id: SessionId): Change | undefined;
  /** What a look saw. Ignored when the session was launched anew since. */
  observeRuntime(id: SessionId, launchId: LaunchId, observation: RuntimeObservation): Change | undefined;
  observeActivity(id: SessionId, signal: ActivitySignal): Change | undefined;
  observePullRequest(id: SessionId, facts: PullRequestFacts): Change | undefined;
  /** The agent named its conversation. Counts only from the current launch. */
  onAgentSessionId(id: SessionId, launchId: LaunchId, agentSessionId: string): Change | undefined;
}

export declare function lifecycleManager(
  deps: Pick<SessionDeps, "store" | "clock" | "ids">,
): LifecycleManager;
