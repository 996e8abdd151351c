import { AoError } from "../../domain/errors.ts";
import { type MessageId, parseMessageId } from "../../domain/ids.ts";
import type { Message } from "../../domain/message.ts";
import { type NewMessage, queueMessage } from "../../domain/message-transitions.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { messageChange } from "../turns/turn-change.ts";

export type MessageDeps = Pick<SessionDeps, "messages" | "changes" | "clock" | "ids">;

/** What the next message of a session is; a goal's has an id of its own, so that it is queued once. */
type Draft = Pick<NewMessage, "channel" | "requestId" | "text"> & Partial<Pick<NewMessage, "id" | "goal">>;

/** A message that is not there yet, with the next number of its session. Inside a transaction. */
export function nextMessage(
  { messages, ids, clock }: MessageDeps,
  { id: sessionId, projectId }: SessionRecord,
  { channel, requestId, text, id = newId(ids.uuid()), goal = null }: Draft,
): Message {
  const number = messages.lastNumber(sessionId) + 1;
  const message = { id, projectId, sessionId, number, channel, requestId, text, goal };
  return queueMessage(message, clock.nowMs());
}

function newId(uuid: string): MessageId {
  const id = parseMessageId(uuid);
  if (id === undefined) throw new AoError("internal", "a UUID makes no message id");
  return id;
}

/**
 * Adds a message and tells the change log. Inside a transaction.
 *
 * @throws AoError store_busy when its number was taken since.
 */
export function insertMessage(deps: MessageDeps, message: Message): void {
  if (!deps.messages.insert(message)) {
    throw new AoError("store_busy", `message ${message.number} of ${message.sessionId} is there already`);
  }
  deps.changes.append(messageChange(message, deps.clock.nowMs()));
}

/** @throws AoError internal when it has no row. */
export function requireMessage({ messages }: Pick<MessageDeps, "messages">, id: MessageId): Message {
  const message = messages.get(id);
  if (message !== undefined) return message;
  throw new AoError("internal", `message ${id} has no row`);
}
