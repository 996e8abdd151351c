import type { MessageId, SessionId } from "../domain/ids.ts";
import type { Message, SentMessage } from "../domain/message.ts";

/**
 * The messages of all sessions, and nothing of their rules but that one of a session at most is on its way. Calls
 * are synchronous and take part in the transaction of the session store. Any call may throw what that throws, and
 * store_corrupt when a row that it would return cannot be read.
 * Behaviour every adapter owes: test/contract/message-store.contract.ts.
 */
export interface MessageStore {
  get(id: MessageId): Message | undefined;
  /** The message that a sender gave this name to. */
  ofRequest(sessionId: SessionId, requestId: string): Message | undefined;
  /** The first of a session that is queued, by number. */
  firstQueued(sessionId: SessionId): Message | undefined;
  /** Those of a session that are queued, by number. */
  queued(sessionId: SessionId): readonly Message[];
  /** Those of a session that may have arrived without a receipt, by number. */
  sent(sessionId: SessionId): readonly SentMessage[];
  /** Sessions that have a message which is queued or on its way, each once, by id. */
  sessionsWaiting(): readonly SessionId[];
  /** The greatest number of a session; 0 while it has none. */
  lastNumber(sessionId: SessionId): number;
  /**
   * Adds a row. False when its id, its number or its request id is taken, or when it is on its way and another
   * one of its session is too; nothing changed then.
   */
  insert(message: Message): boolean;
  /**
   * Replaces the row when its stored version is `readVersion`. False when not, when there is no row, or when
   * another one of its session is on its way too; nothing changed then. The caller has set the new version.
   */
  save(message: Message, readVersion: number): boolean;
}
