import type { Database } from "better-sqlite3";
import type { ProjectId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionRows, SessionStore, UnreadableSession } from "../../ports/session-store.ts";
import { rowUnreadable } from "./errors.ts";
import { promptTable } from "./prompt-table.ts";
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

const SELECT = `SELECT ${COLUMNS.join(", ")},
  EXISTS (SELECT 1 FROM prompts WHERE session_id = sessions.id) AS has_prompt FROM sessions`;
const ORDER = "ORDER BY created_at, number, id";

/** Of a prompt the metadata only say whether there is one, by `told`; a record does not know. */
function valuesOf(told: string): string {
  const values = COLUMNS.map((name) =>
    name === "metadata" ? `json_set(@metadata, '$.prompt', ${told})` : `@${name}`,
  );
  return values.join(", ");
}

/** Unreadable rows that an error names; it counts them all. */
const MAX_NAMED_ROWS = 5;

type SessionTable = Pick<
  SessionStore,
  "allocateSessionNumber" | "get" | "rows" | "list" | "insert" | "promptOf" | "save"
>;

function readRows(rows: Iterable<StoredSessionRow>): SessionRows {
  const sessions: SessionRecord[] = [];
  const unreadable: UnreadableSession[] = [];
  for (const row of rows) {
    const parsed = parseSessionRow(row);
    if (parsed.kind === "session") sessions.push(parsed.record);
    else unreadable.push(parsed.row);
  }
  return { sessions, unreadable };
}

function requireAll(path: string, { sessions, unreadable }: SessionRows): readonly SessionRecord[] {
  if (unreadable.length === 0) return sessions;
  const named = unreadable.slice(0, MAX_NAMED_ROWS).map(({ id, flaw }) => `${id} (${flaw})`);
  throw rowUnreadable(path, `has ${unreadable.length} unreadable session rows: ${named.join(", ")}`);
}

function requireOne(path: string, { sessions, unreadable }: SessionRows): SessionRecord | undefined {
  const [flawed] = unreadable;
  if (flawed === undefined) return sessions[0];
  throw rowUnreadable(path, `has an unreadable session: ${flawed.id} (${flawed.flaw})`);
}

/** Sessions and their numbers. */
export function sessionTable(db: Database): SessionTable {
  const byId = db.prepare<[string], StoredSessionRow>(`${SELECT} WHERE id = ?`);
  const all = db.prepare<[], StoredSessionRow>(`${SELECT} ${ORDER}`);
  const ofProject = db.prepare<[string], StoredSessionRow>(`${SELECT} WHERE project_id = ? ${ORDER}`);
  const prompts = promptTable(db);
  const rows = (projectId?: ProjectId) =>
    // One after the other: the texts of all of them at once would take more memory than what they say.
    readRows(projectId === undefined ? all.iterate() : ofProject.iterate(projectId));
  const insert = db.prepare<[SessionRow & { readonly told: "true" | "null" }]>(
    `INSERT INTO sessions (${COLUMNS.join(", ")}) VALUES (${valuesOf("json(@told)")})
     ON CONFLICT (id) DO NOTHING`,
  );
  const update = db.prepare<[SessionRow & { readonly read_revision: number }]>(
    `UPDATE sessions SET (${COLUMNS.join(", ")}) = (${valuesOf("json(metadata -> '$.prompt')")})
     WHERE id = @id AND revision = @read_revision`,
  );
  const nextNumber = db.prepare<[{ readonly prefix: string }], { readonly last: number }>(
    `INSERT INTO session_numbers (prefix, last)
     VALUES (@prefix, 1 + coalesce(
       (SELECT max(number) FROM sessions WHERE prefix = @prefix COLLATE NOCASE), 0))
     ON CONFLICT (prefix) DO UPDATE SET last = max(last + 1, excluded.last)
     RETURNING last`,
  );
  /** Row and prompt, or neither. */
  const add = db.transaction((record: SessionRecord, prompt: string | null) => {
    const told = prompt === null ? "null" : "true";
    const isAdded = insert.run({ ...sessionRow(record), told }).changes === 1;
    if (isAdded && prompt !== null) prompts.write(record.id, prompt);
    return isAdded;
  });
  const allocate = db.transaction((prefix: string) => Number(nextNumber.get({ prefix })?.last));

  return {
    allocateSessionNumber: (prefix) => allocate.immediate(prefix),
    get: (id) => requireOne(db.name, readRows(byId.all(id))),
    rows,
    list: (projectId) => requireAll(db.name, rows(projectId)),
    insert: (record, prompt = null) => add.immediate(record, prompt),
    promptOf: prompts.read,
    save: (record, readRevision) =>
      update.run({ ...sessionRow(record), read_revision: readRevision }).changes === 1,
  };
}
