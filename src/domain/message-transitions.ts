import type { TurnId } from "./ids.ts";
import { isDelivering, isSent, type Message, type MessageDelivery, type MessageState } from "./message.ts";

/** What a new message is; the rest follows. */
export type NewMessage = Omit<Message, "state" | "createdAtMs" | "updatedAtMs" | "version">;

// Each of these returns the next version of a message, or the message itself when its state does not allow that.

/** A message that was just accepted. */
export function queueMessage(message: NewMessage, nowMs: number): Message {
  return { ...message, state: { kind: "queued" }, createdAtMs: nowMs, updatedAtMs: nowMs, version: 1 };
}

/** Its keys are sent next: from now on it is never sent again without proof that nothing was typed. */
export function beginDelivery(message: Message, delivery: MessageDelivery): Message {
  if (message.state.kind !== "queued") return message;
  return withState(message, { kind: "delivering", delivery }, delivery.sinceMs);
}

/** The agent's own evidence carried it, also when that comes late. */
export function confirmDelivery(message: Message, turnId: TurnId, atMs: number): Message {
  if (!isSent(message)) return message;
  const delivery = { ...message.state.delivery, turnId };
  return withState(message, { kind: "delivered", delivery, atMs }, atMs);
}

/** Nothing was heard of it in time. */
export function leaveUnconfirmed(message: Message, nowMs: number): Message {
  if (!isDelivering(message)) return message;
  return withState(message, { kind: "unconfirmed", delivery: message.state.delivery }, nowMs);
}

/** It is certain that nothing was typed: it waits for another try. */
export function takeBackDelivery(message: Message, nowMs: number): Message {
  return isDelivering(message) ? withState(message, { kind: "queued" }, nowMs) : message;
}

/** It is certain that nothing was typed, and another try would not help. */
export function failDelivery(
  message: Message,
  error: { readonly code: string; readonly message: string },
  nowMs: number,
): Message {
  return isDelivering(message) ? withState(message, { kind: "failed", error }, nowMs) : message;
}

/** It will not be sent. Only of one of which nothing was. */
export function cancelMessage(message: Message, reason: string, nowMs: number): Message {
  if (message.state.kind !== "queued") return message;
  return withState(message, { kind: "cancelled", reason }, nowMs);
}

/** The next version. Its time never goes back, whatever the clock does. */
function withState(message: Message, state: MessageState, nowMs: number): Message {
  const updatedAtMs = Math.max(message.updatedAtMs, nowMs);
  return { ...message, state, updatedAtMs, version: message.version + 1 };
}
