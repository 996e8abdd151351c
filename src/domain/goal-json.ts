import { type GoalState, type GoalStatus, type GoalSyncStatus, goalStatus, isTombstoned } from "./goal.ts";
import { isoTime } from "./iso-time.ts";

/** A goal for readers outside. Keys and their order are a contract. */
export interface GoalJson {
  readonly sessionId: string;
  /** `null` when there is none any more. */
  readonly objective: string | null;
  readonly status: GoalStatus;
  /** Why, where the status alone does not tell. */
  readonly detail: string | null;
  readonly syncStatus: GoalSyncStatus;
  readonly revision: number;
  readonly tombstoned: boolean;
  /** The order that made this revision: what a fence names. */
  readonly operationId: string;
  readonly repairEpoch: number;
  readonly pendingOperationId: string | null;
  readonly maxTurns: number | null;
  readonly turnsUsed: number;
  readonly until: string | null;
  /** What `until` last came to. */
  readonly check: {
    readonly exitCode: number | null;
    readonly output: string;
    readonly isCut: boolean;
    readonly at: string;
  } | null;
  readonly lastError: string | null;
  readonly startedAt: string | null;
  readonly observedAt: string | null;
  readonly updatedAt: string;
}

/** Every key is present, times are ISO 8601 UTC. */
export function toGoalJson(state: GoalState): GoalJson {
  const { desired, observed, generation, check } = state;
  return {
    sessionId: state.sessionId,
    objective: desired?.objective ?? null,
    status: goalStatus(state),
    detail: desired === null ? null : (observed?.detail ?? null),
    syncStatus: state.syncStatus,
    revision: generation.revision,
    tombstoned: isTombstoned(state),
    operationId: generation.operationId,
    repairEpoch: generation.repairEpoch,
    pendingOperationId: state.pendingOperationId,
    maxTurns: desired?.maxTurns ?? null,
    turnsUsed: state.turnsUsed,
    until: desired?.until ?? null,
    check: check && {
      exitCode: check.exitCode,
      output: check.output,
      isCut: check.isCut,
      at: isoTime(check.atMs),
    },
    lastError: state.lastError,
    startedAt: isoTime(desired?.startedAtMs ?? null),
    observedAt: isoTime(state.observedAtMs),
    updatedAt: isoTime(state.updatedAtMs),
  };
}
