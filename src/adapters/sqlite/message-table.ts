import type { Database } from "better-sqlite3";
import type { SessionId } from "../../domain/ids.ts";
import { isSent, type Message } from "../../domain/message.ts";
import type { MessageStore } from "../../ports/message-store.ts";
import { storeCorrupt } from "./errors.ts";
import { type MessageRow, messageRow, parseMessageRow, type StoredMessageRow } from "./message-row.ts";

const COLUMNS = [
  "id",
  "project_id",
  "session_id",
  "number",
  "channel",
  "request_id",
  "text",
  "goal",
  "state",
  "delivery",
  "delivered_at",
  "error",
  "cancel_reason",
  "created_at",
  "updated_at",
  "version",
] as const satisfies readonly (keyof MessageRow)[];

/** What may change of a message. */
const CHANGING = ["state", "delivery", "delivered_at", "error", "cancel_reason", "updated_at", "version"];

const SELECT = `SELECT ${COLUMNS.join(", ")} FROM messages`;
// As in the partial indexes.
const QUEUED = "state = 'queued'";
const SENT = "state IN ('delivering', 'unconfirmed')";

function reader(path: string): (row: StoredMessageRow) => Message {
  return (row) => {
    const parsed = parseMessageRow(row);
    if (parsed.kind === "message") return parsed.message;
    throw storeCorrupt(path, `has an unreadable message of ${row.session_id}: ${row.id} (${parsed.flaw})`);
  };
}

/** The rows of all messages. */
export function messageTable(db: Database): MessageStore {
  const read = reader(db.name);
  const byId = db.prepare<[string], StoredMessageRow>(`${SELECT} WHERE id = ?`);
  const byRequest = db.prepare<[string, string], StoredMessageRow>(
    `${SELECT} WHERE session_id = ? AND request_id = ?`,
  );
  const queued = db.prepare<[string, number], StoredMessageRow>(
    `${SELECT} WHERE session_id = ? AND ${QUEUED} ORDER BY number LIMIT ?`,
  );
  const sent = db.prepare<[string], StoredMessageRow>(
    `${SELECT} WHERE session_id = ? AND ${SENT} ORDER BY number`,
  );
  const waiting = db
    .prepare<[], SessionId>(
      `SELECT session_id FROM messages WHERE ${QUEUED}
       UNION SELECT session_id FROM messages WHERE state = 'delivering' ORDER BY 1`,
    )
    .pluck();
  const last = db
    .prepare<[string], number>("SELECT coalesce(max(number), 0) FROM messages WHERE session_id = ?")
    .pluck();
  const insert = db.prepare<[MessageRow]>(
    `INSERT INTO messages (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map((name) => `@${name}`).join(", ")})
     ON CONFLICT DO NOTHING`,
  );
  const update = db.prepare<[MessageRow & { readonly read_version: number }]>(
    `UPDATE OR IGNORE messages SET ${CHANGING.map((name) => `${name} = @${name}`).join(", ")}
     WHERE id = @id AND version = @read_version`,
  );
  const ALL = -1;

  return {
    get: (id) => byId.all(id).map(read)[0],
    ofRequest: (sessionId, requestId) => byRequest.all(sessionId, requestId).map(read)[0],
    firstQueued: (sessionId) => queued.all(sessionId, 1).map(read)[0],
    queued: (sessionId) => queued.all(sessionId, ALL).map(read),
    sent: (sessionId) => sent.all(sessionId).map(read).filter(isSent),
    sessionsWaiting: () => waiting.all(),
    lastNumber: (sessionId) => Number(last.get(sessionId)),
    insert: (message) => insert.run(messageRow(message)).changes === 1,
    save: (message, readVersion) =>
      update.run({ ...messageRow(message), read_version: readVersion }).changes === 1,
  };
}
