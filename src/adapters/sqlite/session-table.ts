import type { Database } from "better-sqlite3";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import { storeCorrupt } from "./errors.ts";
import { parseSessionRow, type SessionRow, type StoredSessionRow, sessionRow } from "./session-row.ts";

const COLUMNS = [
  "id",
  "project_id",
  "issue_id",
  "kind",
  "created_at",
  "updated_at",
  "terminated_at",
  "revision",
  "lifecycle",
  "metadata",
] as const satisfies readonly (keyof SessionRow)[];

const SELECT = `SELECT ${COLUMNS.join(", ")} FROM sessions`;
const ORDER = "ORDER BY created_at, number, id";

/** Damaged rows in an error's message; the rest is in its details. */
const MAX_NAMED_ROWS = 5;

type SessionTable = Pick<SessionStore, "allocateSessionNumber" | "get" | "list" | "insert" | "save">;

function readAll(path: string, rows: readonly StoredSessionRow[]): readonly SessionRecord[] {
  const records: SessionRecord[] = [];
  const damaged: string[] = [];
  for (const row of rows) {
    const parsed = parseSessionRow(row);
    if (parsed.kind === "session") records.push(parsed.record);
    else damaged.push(`${parsed.id} (${parsed.field})`);
  }
  if (damaged.length === 0) return records;
  const named = damaged.slice(0, MAX_NAMED_ROWS).join(", ");
  throw storeCorrupt(path, `has ${damaged.length} unreadable session rows: ${named}`);
}

/** Sessions and their numbers. A row that cannot be read fails the call and is named. */
export function sessionTable(db: Database): SessionTable {
  const byId = db.prepare<[string], StoredSessionRow>(`${SELECT} WHERE id = ?`);
  const all = db.prepare<[], StoredSessionRow>(`${SELECT} ${ORDER}`);
  const ofProject = db.prepare<[string], StoredSessionRow>(`${SELECT} WHERE project_id = ? ${ORDER}`);
  const insert = db.prepare<[SessionRow]>(
    `INSERT INTO sessions (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map((name) => `@${name}`).join(", ")})
     ON CONFLICT (id) DO NOTHING`,
  );
  const update = db.prepare<[SessionRow & { readonly read_revision: number }]>(
    `UPDATE sessions SET ${COLUMNS.map((name) => `${name} = @${name}`).join(", ")}
     WHERE id = @id AND revision = @read_revision`,
  );
  const nextNumber = db.prepare<[{ readonly prefix: string }], { readonly last: number }>(
    `INSERT INTO session_numbers (prefix, last)
     VALUES (@prefix, 1 + coalesce(
       (SELECT max(number) FROM sessions WHERE prefix = @prefix COLLATE NOCASE), 0))
     ON CONFLICT (prefix) DO UPDATE SET last = max(last + 1, excluded.last)
     RETURNING last`,
  );
  const allocate = db.transaction((prefix: string) => Number(nextNumber.get({ prefix })?.last));

  return {
    allocateSessionNumber: (prefix) => allocate.immediate(prefix),
    get: (id) => readAll(db.name, byId.all(id))[0],
    list: (projectId) => readAll(db.name, projectId === undefined ? all.all() : ofProject.all(projectId)),
    insert: (record) => insert.run(sessionRow(record)).changes === 1,
    save: (record, readRevision) =>
      update.run({ ...sessionRow(record), read_revision: readRevision }).changes === 1,
  };
}
