import type { SessionId } from "../../domain/ids.ts";

/** The lock of whoever types to a session's agent, be it a message or the keys that stop a turn. */
export function messagesLock(id: SessionId): string {
  return `messages of ${id}`;
}
