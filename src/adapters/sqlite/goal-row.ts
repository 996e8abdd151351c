import {
  GOAL_DESIRED_STATUSES,
  GOAL_OBSERVED_STATUSES,
  GOAL_SYNC_STATUSES,
  type GoalCheck,
  type GoalDesired,
  type GoalFence,
  type GoalObserved,
  type GoalState,
} from "../../domain/goal.ts";
import { parseLaunchId, parseProjectId, parseSessionId } from "../../domain/ids.ts";
import { isTimeMs } from "../../domain/iso-time.ts";
import { parseOperationId } from "../../domain/operation.ts";
import type { GoalProvenance } from "../../domain/turn.ts";
import type { UnreadableGoal } from "../../ports/goal-store.ts";
import { parseJson } from "./parse-json.ts";
import { check, listOf, nullable, number, oneOf, parsedBy, shape, text } from "./shape.ts";
import { jsonColumn } from "./turn-row.ts";

/** A row of the table `goals` as it is written. */
export interface GoalRow {
  readonly session_id: string;
  readonly project_id: string;
  readonly desired: string | null;
  readonly observed: string | null;
  readonly observed_at: number | null;
  readonly operation_id: string;
  readonly revision: number;
  readonly repair_epoch: number;
  readonly sync_status: string;
  readonly pending_operation_id: string | null;
  readonly turns_used: number;
  readonly last_check: string | null;
  readonly last_error: string | null;
  readonly incidents: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly version: number;
}

/** A row of the table `goal_fences` as it is written. */
export interface FenceRow {
  readonly session_id: string;
  readonly target_operation_id: string;
  readonly project_id: string;
  readonly revision: number;
  readonly repair_epoch: number;
  readonly operation_id: string;
  readonly reason: string;
  readonly installed_launch_id: string | null;
  readonly created_at: number;
}

/** Rows as they are read: nothing is known of them yet. */
export type StoredGoalRow = { readonly [Column in keyof GoalRow]: unknown };
export type StoredFenceRow = { readonly [Column in keyof FenceRow]: unknown };

/** A row that could be read, or the first part of it that is wrong. */
export type ParsedGoal =
  | { readonly kind: "goal"; readonly state: GoalState }
  | { readonly kind: "unreadable"; readonly row: UnreadableGoal };

const time = check((value) => typeof value === "number" && isTimeMs(value));
const flag = check((value) => typeof value === "boolean");

const generation = shape<GoalProvenance>({
  operationId: parsedBy(parseOperationId),
  revision: number,
  repairEpoch: number,
});

const goalShape = shape<GoalState>({
  projectId: parsedBy(parseProjectId),
  sessionId: parsedBy(parseSessionId),
  desired: nullable(
    shape<GoalDesired>({
      objective: text,
      status: oneOf(GOAL_DESIRED_STATUSES),
      startedAtMs: time,
      maxTurns: number,
      until: nullable(text),
    }),
  ),
  observed: nullable(
    shape<GoalObserved>({ objective: text, status: oneOf(GOAL_OBSERVED_STATUSES), detail: nullable(text) }),
  ),
  observedAtMs: nullable(time),
  generation,
  syncStatus: oneOf(GOAL_SYNC_STATUSES),
  pendingOperationId: nullable(parsedBy(parseOperationId)),
  turnsUsed: number,
  check: nullable(shape<GoalCheck>({ exitCode: nullable(number), output: text, isCut: flag, atMs: time })),
  lastError: nullable(text),
  incidents: listOf(text),
  createdAtMs: time,
  updatedAtMs: time,
  version: number,
});

const fenceShape = shape<GoalFence>({
  projectId: parsedBy(parseProjectId),
  sessionId: parsedBy(parseSessionId),
  target: generation,
  operationId: parsedBy(parseOperationId),
  reason: text,
  installedLaunchId: nullable(parsedBy(parseLaunchId)),
  createdAtMs: time,
});

const columnOf = (value: object | null) => (value === null ? null : jsonColumn(value));
const jsonOf = (column: unknown) => (column === null ? null : parseJson(column));

/** The row of a goal. */
export function goalRow(state: GoalState): GoalRow {
  return {
    session_id: state.sessionId,
    project_id: state.projectId,
    desired: columnOf(state.desired),
    observed: columnOf(state.observed),
    observed_at: state.observedAtMs,
    operation_id: state.generation.operationId,
    revision: state.generation.revision,
    repair_epoch: state.generation.repairEpoch,
    sync_status: state.syncStatus,
    pending_operation_id: state.pendingOperationId,
    turns_used: state.turnsUsed,
    last_check: columnOf(state.check),
    last_error: state.lastError,
    incidents: JSON.stringify(state.incidents),
    created_at: state.createdAtMs,
    updated_at: state.updatedAtMs,
    version: state.version,
  };
}

/** The goal of a row. A row of which any part is missing or unknown is unreadable: nothing is made up. */
export function parseGoalRow(row: StoredGoalRow): ParsedGoal {
  const candidate: unknown = {
    projectId: row.project_id,
    sessionId: row.session_id,
    desired: jsonOf(row.desired),
    observed: jsonOf(row.observed),
    observedAtMs: row.observed_at,
    generation: { operationId: row.operation_id, revision: row.revision, repairEpoch: row.repair_epoch },
    syncStatus: row.sync_status,
    pendingOperationId: row.pending_operation_id,
    turnsUsed: row.turns_used,
    check: jsonOf(row.last_check),
    lastError: row.last_error,
    incidents: parseJson(row.incidents),
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    version: row.version,
  };
  const flaw = goalShape(candidate);
  if (flaw === null) return { kind: "goal", state: candidate as GoalState };
  return { kind: "unreadable", row: { sessionId: String(row.session_id), flaw } };
}

/** The row of a fence. */
export function fenceRow({ target, ...fence }: GoalFence): FenceRow {
  return {
    session_id: fence.sessionId,
    target_operation_id: target.operationId,
    project_id: fence.projectId,
    revision: target.revision,
    repair_epoch: target.repairEpoch,
    operation_id: fence.operationId,
    reason: fence.reason,
    installed_launch_id: fence.installedLaunchId,
    created_at: fence.createdAtMs,
  };
}

/** The fence of a row; `undefined` when any part of it is missing or unknown. */
export function parseFenceRow(row: StoredFenceRow): GoalFence | undefined {
  const candidate: unknown = {
    projectId: row.project_id,
    sessionId: row.session_id,
    target: {
      operationId: row.target_operation_id,
      revision: row.revision,
      repairEpoch: row.repair_epoch,
    },
    operationId: row.operation_id,
    reason: row.reason,
    installedLaunchId: row.installed_launch_id,
    createdAtMs: row.created_at,
  };
  return fenceShape(candidate) === null ? (candidate as GoalFence) : undefined;
}
