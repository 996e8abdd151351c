import type { SessionId } from "../../domain/ids.ts";
import { isLiveTurn, type Turn, type TurnKey } from "../../domain/turn.ts";
import type { TurnStore } from "../../ports/turn-store.ts";

/** A turn store in memory that a transaction can put back. */
export interface MemoryTurnStore extends TurnStore {
  /** Remembers all rows; the function that it returns puts them back. */
  remember(): () => void;
}

const byText = (one: string, other: string) => (one < other ? -1 : Number(one > other));
const isOf = (key: TurnKey) => (turn: Turn) => turn.sessionId === key.sessionId && turn.turnId === key.turnId;

/** Rows as values; none of them is ever unreadable. */
export function memoryTurnStore(): MemoryTurnStore {
  let rows: readonly Turn[] = [];

  const find = (key: TurnKey) => rows.find(isOf(key));
  const ofSession = (sessionId: SessionId) =>
    rows
      .filter((turn) => turn.sessionId === sessionId)
      .sort((one, other) => other.sequence - one.sequence)
      .map((turn) => structuredClone(turn));
  const replace = (turn: Turn) => {
    rows = rows.map((row) => (isOf(turn)(row) ? structuredClone(turn) : row));
    return true;
  };
  const isTaken = (turn: Turn) =>
    rows
      .filter(({ sessionId }) => sessionId === turn.sessionId)
      .some(
        (row) =>
          row.turnId === turn.turnId ||
          row.sequence === turn.sequence ||
          (isLiveTurn(row) && isLiveTurn(turn)),
      );

  return {
    get: (key) => structuredClone(find(key)),
    live: (sessionId) => ofSession(sessionId).find(isLiveTurn),
    newest: (sessionId) => ofSession(sessionId)[0],
    ofSession: (sessionId, limit) => ({ turns: ofSession(sessionId).slice(0, limit), unreadable: [] }),
    allLive: () => ({
      turns: structuredClone(rows.filter(isLiveTurn)).sort((one, other) =>
        byText(one.sessionId, other.sessionId),
      ),
      unreadable: [],
    }),
    insert(turn) {
      if (isTaken(turn)) return false;
      rows = [...rows, structuredClone(turn)];
      return true;
    },
    save(turn, readVersion) {
      const stored = find(turn);
      if (stored === undefined || stored.version !== readVersion || !isLiveTurn(stored)) return false;
      return replace({ ...turn, checkpoints: stored.checkpoints });
    },
    keepCheckpoint(key, edge, checkpoint) {
      const stored = find(key);
      if (stored === undefined || stored.checkpoints[edge] !== null) return false;
      return replace({ ...stored, checkpoints: { ...stored.checkpoints, [edge]: checkpoint } });
    },
    remember() {
      const remembered = rows;
      return () => {
        rows = remembered;
      };
    },
  };
}
