import type { SessionId } from "../domain/ids.ts";
import type { LiveTurn, Turn, TurnCheckpoint, TurnEdge, TurnKey } from "../domain/turn.ts";

/** A turn whose row cannot be read: it is damaged, or a later `ao` wrote it. */
export interface UnreadableTurn {
  readonly sessionId: string;
  readonly turnId: string;
  /** The first part that is wrong, for example `state.outcome`. */
  readonly flaw: string;
}

/** Rows of a query, each on its own: one that cannot be read never hides the others. */
export interface TurnRows<Row extends Turn = Turn> {
  readonly turns: readonly Row[];
  readonly unreadable: readonly UnreadableTurn[];
}

/**
 * The turns of all sessions, and nothing of their rules but that one turn of a session at most goes on. Calls are
 * synchronous and take part in the transaction of the session store. Any call may throw what that throws.
 * Behaviour every adapter owes: test/contract/turn-store.contract.ts.
 */
export interface TurnStore {
  /** @throws AoError store_corrupt when its row cannot be read. */
  get(key: TurnKey): Turn | undefined;
  /** The turn of a session that goes on. @throws AoError store_corrupt */
  live(sessionId: SessionId): LiveTurn | undefined;
  /** The turn of a session with the greatest sequence number. @throws AoError store_corrupt */
  newest(sessionId: SessionId): Turn | undefined;
  /** The newest `limit` of a session, newest first. */
  ofSession(sessionId: SessionId, limit: number): TurnRows;
  /** The turns that go on, of all sessions, by session. */
  allLive(): TurnRows<LiveTurn>;
  /**
   * Adds a row. False when its id or its sequence number is taken, or when it goes on and another turn of its
   * session does too; nothing changed then.
   */
  insert(turn: Turn): boolean;
  /**
   * Replaces the row, but for its checkpoints, when its stored version is `readVersion` and it is not settled.
   * False when not, or when there is no row; nothing changed then. The caller has set the new version in `turn`.
   */
  save(turn: Turn, readVersion: number): boolean;
  /** Adds the checkpoint of one end to a turn, also to a settled one. False when there is one, or no such turn. */
  keepCheckpoint(key: TurnKey, edge: TurnEdge, checkpoint: TurnCheckpoint): boolean;
}
