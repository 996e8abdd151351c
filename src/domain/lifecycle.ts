/** The canonical substates of a session. Names are a contract: dashboards read them. */

export const SESSION_STATES = [
  "not_started",
  "working",
  "idle",
  "needs_input",
  "stuck",
  "detecting",
  "done",
  "terminated",
] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export const SESSION_REASONS = [
  "spawn_requested",
  "agent_acknowledged",
  "task_in_progress",
  "pr_created",
  "fixing_ci",
  "resolving_review_comments",
  "awaiting_user_input",
  "awaiting_external_review",
  "research_complete",
  "merged_waiting_decision",
  "manually_killed",
  "pr_merged",
  "auto_cleanup",
  "runtime_lost",
  "agent_process_exited",
  "probe_failure",
  "error_in_process",
] as const;
export type SessionReason = (typeof SESSION_REASONS)[number];

export const PR_STATES = ["none", "draft", "open", "merged", "closed"] as const;
export type PrState = (typeof PR_STATES)[number];

export const PR_REASONS = [
  "not_created",
  "in_progress",
  "ci_failing",
  "review_pending",
  "changes_requested",
  "bot_comments",
  "merge_conflicts",
  "approved",
  "merge_ready",
  "merged",
  "closed_unmerged",
  "cleared_on_restore",
] as const;
export type PrReason = (typeof PR_REASONS)[number];

export const RUNTIME_STATES = ["unknown", "alive", "exited", "missing", "probe_failed"] as const;
export type RuntimeState = (typeof RUNTIME_STATES)[number];

export const RUNTIME_REASONS = [
  "spawn_incomplete",
  "process_running",
  "process_missing",
  "tmux_missing",
  "manual_kill_requested",
  "pr_merged_cleanup",
  "auto_cleanup",
  "probe_error",
] as const;
export type RuntimeReason = (typeof RUNTIME_REASONS)[number];

export const ACTIVITY_STATES = ["active", "ready", "idle", "waiting_input", "blocked", "exited"] as const;
export type ActivityState = (typeof ACTIVITY_STATES)[number];

export const ACTIVITY_SOURCES = ["native", "terminal", "hook", "runtime", "none"] as const;
export type ActivitySource = (typeof ACTIVITY_SOURCES)[number];

export interface SessionSubstate {
  readonly state: SessionState;
  /** `null` when an agent merely rests. */
  readonly reason: SessionReason | null;
}

export interface PrSubstate {
  readonly state: PrState;
  readonly reason: PrReason;
  readonly number: number | null;
  readonly url: string | null;
}

export interface RuntimeSubstate {
  readonly state: RuntimeState;
  readonly reason: RuntimeReason;
}

/** What the agent was last heard doing. `state` is `null` until it was heard from. */
export interface ActivityMemory {
  readonly state: ActivityState | null;
  readonly lastActivityAtMs: number | null;
  readonly source: ActivitySource;
  /** As `ActivitySignal` has it. */
  readonly asks?: "question" | "permission";
}

/** Memory of one episode of doubt. It exists only while the session is `detecting` or stuck by it. */
export interface DetectingMemory {
  /** Looks in a row with the same evidence, 1 at first. */
  readonly attempts: number;
  /** Start of the whole episode, Unix milliseconds. */
  readonly startedAtMs: number;
  readonly evidenceHash: string;
}

export interface CanonicalLifecycle {
  readonly version: 1;
  /** Grows by one on every write of the row; a write names the revision it read. */
  readonly revision: number;
  readonly session: SessionSubstate;
  readonly pr: PrSubstate;
  readonly runtime: RuntimeSubstate;
  readonly activity: ActivityMemory;
  readonly detecting: DetectingMemory | null;
}

/** The lifecycle of a session whose runtime was just made: everything else is still unknown. */
export function initialLifecycle(): CanonicalLifecycle {
  return {
    version: 1,
    revision: 1,
    session: { state: "not_started", reason: "spawn_requested" },
    pr: { state: "none", reason: "not_created", number: null, url: null },
    runtime: { state: "unknown", reason: "spawn_incomplete" },
    activity: { state: null, lastActivityAtMs: null, source: "none" },
    detecting: null,
  };
}

/** Whether a session is over. Only a restore reopens it, never an observation. */
export function isTerminal(lifecycle: CanonicalLifecycle): boolean {
  return lifecycle.session.state === "done" || lifecycle.session.state === "terminated";
}
