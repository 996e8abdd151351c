import type { Database } from "better-sqlite3";
import { parseProjectId, parseSessionId } from "../../domain/ids.ts";
import { isTimeMs } from "../../domain/iso-time.ts";
import type { Change, ChangeLog } from "../../ports/change-log.ts";
import { storeCorrupt } from "./errors.ts";
import { parseJson } from "./parse-json.ts";
import { check, nullable, number, parsedBy, shape, text } from "./shape.ts";

interface ChangeRow {
  readonly at: number;
  readonly project_id: string;
  readonly session_id: string | null;
  readonly type: string;
  readonly data: string;
}

/** A row as it is read: nothing is known of it yet. */
type StoredChangeRow = { readonly [Column in keyof ChangeRow | "sequence"]: unknown };

const changeShape = shape<Change>({
  sequence: number,
  atMs: check((value) => typeof value === "number" && isTimeMs(value)),
  projectId: parsedBy(parseProjectId),
  sessionId: nullable(parsedBy(parseSessionId)),
  type: text,
  data: check((value) => value !== undefined),
});

function readChange(path: string, row: StoredChangeRow): Change {
  const candidate: unknown = {
    sequence: row.sequence,
    atMs: row.at,
    projectId: row.project_id,
    sessionId: row.session_id,
    type: row.type,
    data: parseJson(row.data),
  };
  const flaw = changeShape(candidate);
  if (flaw === null) return candidate as Change;
  throw storeCorrupt(path, `has an unreadable change: ${row.sequence} (${flaw})`);
}

/** The change log. A row that cannot be read fails the call: a reader must not miss it unawares. */
export function changeTable(db: Database): ChangeLog {
  const insert = db.prepare<[ChangeRow]>(
    `INSERT INTO changes (at, project_id, session_id, type, data)
     VALUES (@at, @project_id, @session_id, @type, @data)`,
  );
  const after = db.prepare<[number, number], StoredChangeRow>(
    `SELECT sequence, at, project_id, session_id, type, data FROM changes
     WHERE sequence > ? ORDER BY sequence LIMIT ?`,
  );
  const last = db.prepare<[], { readonly last: number }>(
    "SELECT coalesce(max(sequence), 0) AS last FROM changes",
  );

  return {
    append: ({ atMs, projectId, sessionId, type, data }) =>
      Number(
        insert.run({
          at: atMs,
          project_id: projectId,
          session_id: sessionId,
          type,
          data: JSON.stringify(data),
        }).lastInsertRowid,
      ),
    after: (sequence, limit) => after.all(sequence, limit).map((row) => readChange(db.name, row)),
    last: () => last.get()?.last ?? 0,
  };
}
