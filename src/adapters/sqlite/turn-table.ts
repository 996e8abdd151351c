import type { Database } from "better-sqlite3";
import { isLiveTurn, type Turn, type TurnEdge } from "../../domain/turn.ts";
import type { TurnRows, TurnStore, UnreadableTurn } from "../../ports/turn-store.ts";
import { storeCorrupt } from "./errors.ts";
import { jsonColumn, parseTurnRow, type StoredTurnRow, type TurnRow, turnRow } from "./turn-row.ts";

const COLUMNS = [
  "session_id",
  "id",
  "project_id",
  "sequence",
  "launch_id",
  "origin",
  "goal",
  "message_id",
  "phase",
  "outcome",
  "error",
  "start_checkpoint",
  "end_checkpoint",
  "created_at",
  "started_at",
  "updated_at",
  "settled_at",
  "version",
] as const satisfies readonly (keyof TurnRow)[];

/** What an event in the life of a turn may change; the rest is from its birth, or kept on its own. */
const CHANGING = ["phase", "outcome", "error", "started_at", "updated_at", "settled_at", "version"];

const SELECT = `SELECT ${COLUMNS.join(", ")} FROM turns`;
/** As in the partial index. */
const LIVE = "phase <> 'settled'";
const CHECKPOINT_COLUMNS: { readonly [Edge in TurnEdge]: string } = {
  start: "start_checkpoint",
  end: "end_checkpoint",
};

function readAll(rows: readonly StoredTurnRow[]): TurnRows {
  const turns: Turn[] = [];
  const unreadable: UnreadableTurn[] = [];
  for (const row of rows) {
    const parsed = parseTurnRow(row);
    if (parsed.kind === "turn") turns.push(parsed.turn);
    else unreadable.push(parsed.row);
  }
  return { turns, unreadable };
}

function readOne(path: string, rows: readonly StoredTurnRow[]): Turn | undefined {
  const { turns, unreadable } = readAll(rows);
  const [flawed] = unreadable;
  if (flawed === undefined) return turns[0];
  throw storeCorrupt(
    path,
    `has an unreadable turn of ${flawed.sessionId}: ${flawed.turnId} (${flawed.flaw})`,
  );
}

/** The rows of all turns. */
export function turnTable(db: Database): TurnStore {
  const byKey = db.prepare<[string, string], StoredTurnRow>(`${SELECT} WHERE session_id = ? AND id = ?`);
  const live = db.prepare<[string], StoredTurnRow>(`${SELECT} WHERE session_id = ? AND ${LIVE}`);
  const allLive = db.prepare<[], StoredTurnRow>(`${SELECT} WHERE ${LIVE} ORDER BY session_id`);
  const ofSession = db.prepare<[string, number], StoredTurnRow>(
    `${SELECT} WHERE session_id = ? ORDER BY sequence DESC LIMIT ?`,
  );
  const insert = db.prepare<[TurnRow]>(
    `INSERT INTO turns (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map((name) => `@${name}`).join(", ")})
     ON CONFLICT DO NOTHING`,
  );
  const update = db.prepare<[TurnRow & { readonly read_version: number }]>(
    `UPDATE turns SET ${CHANGING.map((name) => `${name} = @${name}`).join(", ")}
     WHERE session_id = @session_id AND id = @id AND version = @read_version AND ${LIVE}`,
  );
  const checkpointAt = (edge: TurnEdge) => {
    const column = CHECKPOINT_COLUMNS[edge];
    return db.prepare<[string | null, string, string]>(
      `UPDATE turns SET ${column} = ? WHERE session_id = ? AND id = ? AND ${column} IS NULL`,
    );
  };
  const keep = { start: checkpointAt("start"), end: checkpointAt("end") };

  return {
    get: ({ sessionId, turnId }) => readOne(db.name, byKey.all(sessionId, turnId)),
    live(sessionId) {
      const turn = readOne(db.name, live.all(sessionId));
      return turn !== undefined && isLiveTurn(turn) ? turn : undefined;
    },
    newest: (sessionId) => readOne(db.name, ofSession.all(sessionId, 1)),
    ofSession: (sessionId, limit) => readAll(ofSession.all(sessionId, limit)),
    allLive() {
      const { turns, unreadable } = readAll(allLive.all());
      return { turns: turns.filter(isLiveTurn), unreadable };
    },
    insert: (turn) => insert.run(turnRow(turn)).changes === 1,
    save: (turn, readVersion) => update.run({ ...turnRow(turn), read_version: readVersion }).changes === 1,
    keepCheckpoint: ({ sessionId, turnId }, edge, checkpoint) =>
      keep[edge].run(jsonColumn(checkpoint), sessionId, turnId).changes === 1,
  };
}
