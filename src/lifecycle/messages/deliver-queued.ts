import { type AoErrorCode, errorMessage, isAoError } from "../../domain/errors.ts";
import type { MessageId, SessionId } from "../../domain/ids.ts";
import type { MessageState } from "../../domain/message.ts";
import type { SessionDeps } from "../deps.ts";
import { deliverNext } from "./deliver-next.ts";

/** A message that went out of the queue, and what became of it. */
export interface QueuedDelivery {
  readonly messageId: MessageId;
  readonly sessionId: SessionId;
  readonly state: MessageState["kind"];
}

/** A session whose messages could not be delivered now; those of all others were. */
export interface DeliveryError {
  readonly subject: string;
  readonly code: AoErrorCode;
  readonly message: string;
}

export interface QueuedDeliveries {
  readonly messages: readonly QueuedDelivery[];
  readonly errors: readonly DeliveryError[];
}

/**
 * Delivers what is queued, of all sessions, in the order of each queue, as far as the agents can take it now: none
 * is waited for but for its receipts. A session that is over keeps its queue, without an error.
 *
 * @throws AoError when the store cannot be used.
 */
export async function deliverQueued(deps: SessionDeps): Promise<QueuedDeliveries> {
  const messages: QueuedDelivery[] = [];
  const errors: DeliveryError[] = [];
  for (const sessionId of deps.messages.sessionsWaiting()) {
    try {
      await deliverAll(deps, sessionId, messages);
    } catch (error) {
      if (isAoError(error, "not_running")) continue;
      const code = isAoError(error) ? error.code : "internal";
      errors.push({ subject: `messages of ${sessionId}`, code, message: errorMessage(error) });
    }
  }
  return { messages, errors };
}

async function deliverAll(
  deps: SessionDeps,
  sessionId: SessionId,
  delivered: QueuedDelivery[],
): Promise<void> {
  for (;;) {
    const next = await deliverNext(deps, sessionId);
    if (next.kind !== "tried") return;
    const { id: messageId, state } = next.message;
    delivered.push({ messageId, sessionId, state: state.kind });
  }
}
