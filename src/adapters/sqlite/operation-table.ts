import type { Database } from "better-sqlite3";
import type { Operation } from "../../domain/operation.ts";
import type { OperationRows, OperationStore, UnreadableOperation } from "../../ports/operation-store.ts";
import { rowUnreadable } from "./errors.ts";
import {
  type OperationRow,
  operationRow,
  parseOperationRow,
  type StoredOperationRow,
} from "./operation-row.ts";

/** What an operation has from its beginning; what was asked for may be long. */
const FIXED = [
  "id",
  "kind",
  "project_id",
  "session_id",
  "subject",
  "input",
  "created_at",
] as const satisfies readonly (keyof OperationRow)[];

/** What a step of an operation may change. */
const CHANGING = [
  "progress",
  "state",
  "next_attempt_at",
  "lease_token",
  "lease_owner",
  "lease_expires_at",
  "result",
  "error",
  "completed_at",
  "attempt",
  "version",
  "last_error",
  "updated_at",
] as const satisfies readonly (keyof OperationRow)[];

const COLUMNS = [...FIXED, ...CHANGING];
const SELECT = `SELECT ${COLUMNS.join(", ")} FROM operations`;
/** As in the partial index; a state that is none counts as unfinished, so that it is reported. */
const UNFINISHED = "state NOT IN ('completed', 'failed')";

function readAll(rows: readonly StoredOperationRow[]): OperationRows {
  const operations: Operation[] = [];
  const unreadable: UnreadableOperation[] = [];
  for (const row of rows) {
    const parsed = parseOperationRow(row);
    if (parsed.kind === "operation") operations.push(parsed.operation);
    else unreadable.push(parsed.row);
  }
  return { operations, unreadable };
}

function readOne(path: string, rows: readonly StoredOperationRow[]): Operation | undefined {
  const { operations, unreadable } = readAll(rows);
  const [flawed] = unreadable;
  if (flawed === undefined) return operations[0];
  throw rowUnreadable(path, `has an unreadable operation: ${flawed.id} (${flawed.flaw})`);
}

/** The rows of the operation ledger. */
export function operationTable(db: Database): OperationStore {
  const byId = db.prepare<[string], StoredOperationRow>(`${SELECT} WHERE id = ?`);
  const unfinished = db.prepare<[], StoredOperationRow>(
    `${SELECT} WHERE ${UNFINISHED} ORDER BY created_at, id`,
  );
  const ofSession = db.prepare<[string, number], StoredOperationRow>(
    `${SELECT} WHERE session_id = ? ORDER BY created_at DESC, id DESC LIMIT ?`,
  );
  const ofKind = () =>
    db.prepare<[string, string, number], StoredOperationRow>(
      `${SELECT} WHERE kind = ? AND project_id = ? ORDER BY created_at DESC, id DESC LIMIT ?`,
    );
  const insert = db.prepare<[OperationRow]>(
    `INSERT INTO operations (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map((name) => `@${name}`).join(", ")})
     ON CONFLICT (id) DO NOTHING`,
  );
  const update = db.prepare<[OperationRow & { readonly read_version: number }]>(
    `UPDATE operations SET ${CHANGING.map((name) => `${name} = @${name}`).join(", ")}
     WHERE id = @id AND version = @read_version AND ${UNFINISHED}`,
  );

  return {
    get: (id) => readOne(db.name, byId.all(id)),
    insert: (operation) => insert.run(operationRow(operation)).changes === 1,
    save: (operation, readVersion) =>
      update.run({ ...operationRow(operation), read_version: readVersion }).changes === 1,
    unfinished: () => readAll(unfinished.all()),
    ofKind: (kind, projectId, limit) => readAll(ofKind().all(kind, projectId, limit)),
    ofSession: (id, limit) => readAll(ofSession.all(id, limit)),
  };
}
