import type { SessionId } from "../../domain/ids.ts";
import { isDelivering, isSent, type Message } from "../../domain/message.ts";
import type { MessageStore } from "../../ports/message-store.ts";

/** A message store in memory that a transaction can put back. */
export interface MemoryMessageStore extends MessageStore {
  /** Remembers all rows; the function that it returns puts them back. */
  remember(): () => void;
}

const isQueued = ({ state }: Message) => state.kind === "queued";

/** Rows as values; none of them is ever unreadable. */
export function memoryMessageStore(): MemoryMessageStore {
  let rows: readonly Message[] = [];

  const ofSession = (id: SessionId) =>
    rows
      .filter(({ sessionId }) => sessionId === id)
      .sort((one, other) => one.number - other.number)
      .map((message) => structuredClone(message));
  const isBeside = (message: Message) => (row: Message) =>
    row.sessionId === message.sessionId &&
    row.id !== message.id &&
    isDelivering(row) &&
    isDelivering(message);
  const isTaken = (message: Message) =>
    rows.some(
      (row) =>
        row.id === message.id ||
        (row.sessionId === message.sessionId &&
          (row.number === message.number || (row.requestId !== null && row.requestId === message.requestId))),
    );

  return {
    get: (id) => structuredClone(rows.find((row) => row.id === id)),
    ofRequest: (sessionId, requestId) => ofSession(sessionId).find((one) => one.requestId === requestId),
    firstQueued: (sessionId) => ofSession(sessionId).find(isQueued),
    queued: (sessionId) => ofSession(sessionId).filter(isQueued),
    sent: (sessionId) => ofSession(sessionId).filter(isSent),
    sessionsWaiting: () =>
      [
        ...new Set(rows.filter((one) => isQueued(one) || isDelivering(one)).map((one) => one.sessionId)),
      ].sort(),
    lastNumber: (sessionId) => ofSession(sessionId).at(-1)?.number ?? 0,
    insert(message) {
      if (isTaken(message) || rows.some(isBeside(message))) return false;
      rows = [...rows, structuredClone(message)];
      return true;
    },
    save(message, readVersion) {
      const stored = rows.find((row) => row.id === message.id);
      if (stored?.version !== readVersion || rows.some(isBeside(message))) return false;
      rows = rows.map((row) => (row.id === message.id ? structuredClone(message) : row));
      return true;
    },
    remember() {
      const remembered = rows;
      return () => {
        rows = remembered;
      };
    },
  };
}
