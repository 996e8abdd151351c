import { isSettledTurn, type Turn } from "../../domain/turn.ts";
import type { UnreadableTurn } from "../../ports/turn-store.ts";
import { parseJson } from "./parse-json.ts";
import { turnShape } from "./turn-shape.ts";

/** A row of the table `turns` as it is written. */
export interface TurnRow {
  readonly session_id: string;
  readonly id: string;
  readonly project_id: string;
  readonly sequence: number;
  readonly launch_id: string;
  readonly origin: string;
  readonly goal: string | null;
  readonly message_id: string | null;
  readonly phase: string;
  readonly outcome: string | null;
  readonly error: string | null;
  readonly start_checkpoint: string | null;
  readonly end_checkpoint: string | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly updated_at: number;
  readonly settled_at: number | null;
  readonly version: number;
}

/** A row as it is read: nothing is known of it yet. */
export type StoredTurnRow = { readonly [Column in keyof TurnRow]: unknown };

export type ParsedTurn =
  | { readonly kind: "turn"; readonly turn: Turn }
  | { readonly kind: "unreadable"; readonly row: UnreadableTurn };

/** JSON of a value, or NULL for none. */
export function jsonColumn(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** The row of a turn. */
export function turnRow(turn: Turn): TurnRow {
  const end = isSettledTurn(turn) ? turn.state : null;
  return {
    session_id: turn.sessionId,
    id: turn.turnId,
    project_id: turn.projectId,
    sequence: turn.sequence,
    launch_id: turn.launchId,
    origin: turn.origin,
    goal: jsonColumn(turn.goal),
    message_id: turn.messageId,
    phase: turn.state.kind,
    outcome: end?.outcome ?? null,
    error: jsonColumn(turn.error),
    start_checkpoint: jsonColumn(turn.checkpoints.start),
    end_checkpoint: jsonColumn(turn.checkpoints.end),
    created_at: turn.createdAtMs,
    started_at: turn.startedAtMs,
    updated_at: turn.updatedAtMs,
    settled_at: end?.atMs ?? null,
    version: turn.version,
  };
}

/** What a column holds: `null` for NULL, `undefined` for what is no JSON. */
function jsonOf(column: unknown): unknown {
  return column === null ? null : parseJson(column);
}

/** The turn of a row. A row of which any part is missing or unknown is unreadable: nothing is made up. */
export function parseTurnRow(row: StoredTurnRow): ParsedTurn {
  const { phase: kind, outcome, settled_at: atMs } = row;
  const candidate: unknown = {
    projectId: row.project_id,
    sessionId: row.session_id,
    turnId: row.id,
    sequence: row.sequence,
    launchId: row.launch_id,
    origin: row.origin,
    goal: jsonOf(row.goal),
    messageId: row.message_id,
    state: kind === "settled" ? { kind, outcome, atMs } : { kind },
    error: jsonOf(row.error),
    checkpoints: { start: jsonOf(row.start_checkpoint), end: jsonOf(row.end_checkpoint) },
    createdAtMs: row.created_at,
    startedAtMs: row.started_at,
    updatedAtMs: row.updated_at,
    version: row.version,
  };
  const flaw = turnShape(candidate);
  if (flaw === null) return { kind: "turn", turn: candidate as Turn };
  return { kind: "unreadable", row: { sessionId: String(row.session_id), turnId: String(row.id), flaw } };
}
