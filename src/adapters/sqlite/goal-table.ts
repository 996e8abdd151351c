import type { Database } from "better-sqlite3";
import type { GoalFence, GoalState } from "../../domain/goal.ts";
import type { GoalRows, GoalStore, UnreadableGoal } from "../../ports/goal-store.ts";
import { storeCorrupt } from "./errors.ts";
import {
  type FenceRow,
  fenceRow,
  type GoalRow,
  goalRow,
  parseFenceRow,
  parseGoalRow,
  type StoredFenceRow,
  type StoredGoalRow,
} from "./goal-row.ts";

const COLUMNS = [
  "session_id",
  "project_id",
  "desired",
  "observed",
  "observed_at",
  "operation_id",
  "revision",
  "repair_epoch",
  "sync_status",
  "pending_operation_id",
  "turns_used",
  "last_check",
  "last_error",
  "incidents",
  "created_at",
  "updated_at",
  "version",
] as const satisfies readonly (keyof GoalRow)[];

const FENCE_COLUMNS = [
  "session_id",
  "target_operation_id",
  "project_id",
  "revision",
  "repair_epoch",
  "operation_id",
  "reason",
  "installed_launch_id",
  "created_at",
] as const satisfies readonly (keyof FenceRow)[];

const SELECT = `SELECT ${COLUMNS.join(", ")} FROM goals`;
/** As in the partial index. */
const ACTIVE = "desired ->> '$.status' = 'active'";

function readAll(rows: readonly StoredGoalRow[]): GoalRows {
  const goals: GoalState[] = [];
  const unreadable: UnreadableGoal[] = [];
  for (const row of rows) {
    const parsed = parseGoalRow(row);
    if (parsed.kind === "goal") goals.push(parsed.state);
    else unreadable.push(parsed.row);
  }
  return { goals, unreadable };
}

function insertInto(table: string, columns: readonly string[]): string {
  const values = columns.map((name) => `@${name}`).join(", ");
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${values}) ON CONFLICT DO NOTHING`;
}

/** The rows of all goals and their fences. */
export function goalTable(db: Database): GoalStore {
  const bySession = db.prepare<[string], StoredGoalRow>(`${SELECT} WHERE session_id = ?`);
  const active = db.prepare<[], StoredGoalRow>(`${SELECT} WHERE ${ACTIVE} ORDER BY session_id`);
  const insert = db.prepare<[GoalRow]>(insertInto("goals", COLUMNS));
  const update = db.prepare<[GoalRow & { readonly read_version: number }]>(
    `UPDATE goals SET ${COLUMNS.slice(2)
      .map((name) => `${name} = @${name}`)
      .join(", ")}
     WHERE session_id = @session_id AND version = @read_version`,
  );
  const fences = db.prepare<[string], StoredFenceRow>(
    `SELECT ${FENCE_COLUMNS.join(", ")} FROM goal_fences WHERE session_id = ? ORDER BY created_at, rowid`,
  );
  const insertFence = db.prepare<[FenceRow]>(insertInto("goal_fences", FENCE_COLUMNS));
  const install = db.prepare<[string, string, string]>(
    "UPDATE goal_fences SET installed_launch_id = ? WHERE session_id = ? AND target_operation_id = ?",
  );

  function readFence(row: StoredFenceRow): GoalFence {
    const fence = parseFenceRow(row);
    if (fence !== undefined) return fence;
    throw storeCorrupt(db.name, `has an unreadable fence of ${row.session_id}: ${row.target_operation_id}`);
  }

  return {
    state(sessionId) {
      const { goals, unreadable } = readAll(bySession.all(sessionId));
      const [flawed] = unreadable;
      if (flawed === undefined) return goals[0];
      throw storeCorrupt(db.name, `has an unreadable goal of ${flawed.sessionId} (${flawed.flaw})`);
    },
    active: () => readAll(active.all()),
    insert: (state) => insert.run(goalRow(state)).changes === 1,
    save: (state, readVersion) => update.run({ ...goalRow(state), read_version: readVersion }).changes === 1,
    fences: (sessionId) => fences.all(sessionId).map(readFence),
    insertFence: (fence) => insertFence.run(fenceRow(fence)).changes === 1,
    markInstalled: ({ sessionId, target }, launchId) =>
      install.run(launchId, sessionId, target.operationId).changes === 1,
  };
}
