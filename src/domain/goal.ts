import type { ProjectId, SessionId } from "./ids.ts";
import type { OperationId } from "./operation.ts";
import type { GoalProvenance } from "./turn.ts";

/** What can be asked of a goal; each makes one operation and adds one to the revision. */
export const GOAL_ACTIONS = ["set", "pause", "resume", "clear"] as const;
export type GoalAction = (typeof GOAL_ACTIONS)[number];

/** How far what was asked for has come to the agent. Names are a contract. */
export const GOAL_SYNC_STATUSES = ["pending", "applying", "synced", "diverged", "failed", "unknown"] as const;
export type GoalSyncStatus = (typeof GOAL_SYNC_STATUSES)[number];

export const GOAL_DESIRED_STATUSES = ["active", "paused"] as const;

/** What the agent was last known to make of a goal. All but the first two are ends that need no further order. */
export const GOAL_OBSERVED_STATUSES = ["active", "paused", "completed", "limited", "blocked"] as const;

/** A standing objective, as it was asked for. */
export interface GoalDesired {
  readonly objective: string;
  readonly status: (typeof GOAL_DESIRED_STATUSES)[number];
  readonly startedAtMs: number;
  /** How many turns it may take in all, from 1. */
  readonly maxTurns: number;
  /** A command line of the user's; that it ends with 0 means that the goal is reached. */
  readonly until: string | null;
}

export interface GoalObserved {
  readonly objective: string;
  readonly status: (typeof GOAL_OBSERVED_STATUSES)[number];
  /** Why, in one clause, where that is not plain. */
  readonly detail: string | null;
}

/** What the command of `until` last came to. */
export interface GoalCheck {
  /** `null` when it was ended by a signal or the time limit, or could not be run. */
  readonly exitCode: number | null;
  /** The end of what it wrote, both outputs together. */
  readonly output: string;
  /** It wrote more than was kept. */
  readonly isCut: boolean;
  readonly atMs: number;
}

/** The goal of a session. There is no row before the first order; one that was cleared keeps it. */
export interface GoalState {
  readonly projectId: ProjectId;
  readonly sessionId: SessionId;
  /** `null` when it was cleared: the goal is tombstoned then. */
  readonly desired: GoalDesired | null;
  readonly observed: GoalObserved | null;
  /** Of the newest observation, Unix milliseconds; what is older changes nothing. */
  readonly observedAtMs: number | null;
  /** The newest order: operation, revision and how often it had to be repeated. */
  readonly generation: GoalProvenance;
  readonly syncStatus: GoalSyncStatus;
  /** The operation that carries the newest order out. */
  readonly pendingOperationId: OperationId | null;
  /** Turns that were begun for it since it was set. */
  readonly turnsUsed: number;
  readonly check: GoalCheck | null;
  readonly lastError: string | null;
  /** Late results of earlier orders that had to be made good in this revision, each by its operation. */
  readonly incidents: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** From 1, and grows by one on every change. */
  readonly version: number;
}

/** The permanent revocation of one generation of a goal. */
export interface GoalFence {
  readonly projectId: ProjectId;
  readonly sessionId: SessionId;
  /** The generation that is never delivered any more. */
  readonly target: GoalProvenance;
  /** The operation that carries it out; whether it is settled is told by that one. */
  readonly operationId: OperationId;
  readonly reason: string;
  /** The launch whose agent was told of it; `null` when none was. */
  readonly installedLaunchId: string | null;
  readonly createdAtMs: number;
}

/** More late results than these in one revision: nobody can say any more what the agent follows. */
const MAX_INCIDENTS = 8;

/** Whether a goal was cleared, and nothing took its place. */
export function isTombstoned({ desired }: GoalState): boolean {
  return desired === null;
}

/** Whether nothing but a new order can make a goal look converged again. */
export function isGivenUp({ incidents }: GoalState): boolean {
  return incidents.length > MAX_INCIDENTS;
}

/** Whether two name the same generation. */
export function isSameGeneration(one: GoalProvenance, other: GoalProvenance): boolean {
  return (
    one.operationId === other.operationId &&
    one.revision === other.revision &&
    one.repairEpoch === other.repairEpoch
  );
}

/** What a person is told of a goal; `none` when there is none (any more). */
export type GoalStatus = "none" | "pending" | GoalObserved["status"];

/** The one word for a goal; stored nowhere. */
export function goalStatus({ desired, observed }: GoalState): GoalStatus {
  if (desired === null) return "none";
  if (desired.status === "paused") return "paused";
  if (observed === null || observed.objective !== desired.objective) return "pending";
  return observed.status;
}
