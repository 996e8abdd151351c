import type { AgentExit } from "./agent-exit.ts";
import type { ForkOrigin } from "./fork-origin.ts";
import type { HeardEvents } from "./heard-events.ts";
import type { LaunchId, ProjectId, SessionId } from "./ids.ts";
import type { CanonicalLifecycle } from "./lifecycle.ts";

export const SESSION_KINDS = ["worker", "orchestrator"] as const;
export type SessionKind = (typeof SESSION_KINDS)[number];

export const PERMISSION_MODES = ["default", "accept-edits", "bypass"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** Names a process beyond its pid, which the system uses again. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque start time as the system tells it; equal only for the same process of one boot. */
  readonly startTime: string;
  readonly bootId: string;
}

/** Names one runtime exactly, so that no later command has to search for it. */
export interface RuntimeHandle {
  /** The runtime adapter that made it, for example `tmux`. */
  readonly name: string;
  /** Immutable id of the runtime's session, for tmux `$3`. */
  readonly id: string;
  /** Immutable id of the terminal inside it, for tmux `%4`. */
  readonly paneId: string;
  readonly socketPath: string;
  /** The server process that answers on the socket. */
  readonly server: ProcessIdentity;
}

/** A branch that went with its worktree, and the commit it stood at. */
export interface DeletedBranch {
  readonly branch: string;
  readonly commit: string;
  /** It was to be deleted, and whether that happened is not known. */
  readonly mayStand?: true;
}

/** What a session was started with; a restore starts from the same. Its prompt is kept beside it. */
export interface SessionMetadata {
  readonly title: string | null;
  readonly agent: string;
  readonly agentArgs: readonly string[];
  readonly model: string | null;
  readonly permissions: PermissionMode;
  readonly agentSessionId: string | null;
  /** Where the agent of this launch keeps its conversations, if it told; absent or `null` when it did not. */
  readonly agentHome?: string | null;
  /** Conversations that a restore has left behind for a new one, the newest last. */
  readonly previousAgentSessionIds: readonly string[];
  readonly launchId: LaunchId;
  /** A moment before this launch and after all earlier ones, Unix milliseconds; absent for the first launch. */
  readonly launchedAtMs?: number;
  /** The repository the worktree belongs to: its main working tree, or a bare repository. */
  readonly repositoryPath: string;
  readonly branch: string;
  readonly baseRef: string | null;
  readonly baseCommit: string | null;
  readonly workspacePath: string;
  /** When the worktree was removed, Unix milliseconds; `null` while it may exist. */
  readonly workspaceFreedAtMs: number | null;
  /** What was kept when the worktree was freed, to be put back with it; none when there is none. */
  readonly salvageRef?: string | null;
  /** What a cleanup has deleted or was about to, until a restore has made it again; none when there is none. */
  readonly deletedBranch?: DeletedBranch | null;
  readonly runtime: RuntimeHandle | null;
  readonly process: ProcessIdentity | null;
  /** How the agent of this launch ended; `null` or absent while it runs, and where nobody learnt of it. */
  readonly exit?: AgentExit | null;
  /** `null` until its agent was first heard from. */
  readonly heard: HeardEvents | null;
  readonly killNote: string | null;
  readonly configPath: string | null;
  /** Where it comes from; absent for a session that was not forked. */
  readonly fork?: ForkOrigin;
}

export interface SessionRecord {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  readonly issueId: string | null;
  readonly kind: SessionKind;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly terminatedAtMs: number | null;
  readonly lifecycle: CanonicalLifecycle;
  readonly metadata: SessionMetadata;
}
