import { type AoErrorCode, codeOf, errorMessage, isAoError } from "../../domain/errors.ts";
import type { MessageId, SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import { isDelivering, type MessageState } from "../../domain/message.ts";
import type { SessionDeps } from "../deps.ts";
import { deliverNext } from "./deliver-next.ts";
import { whyHeldUp } from "./held-up.ts";
import { isReceiptOverdue, whyNotReady } from "./readiness.ts";

/** How many agents are typed to at the same time. */
const AT_ONCE = 8;
/** How long a tick waits for one receipt; the next tick hears what came later. */
const TICK_RECEIPT_MS = 3_000;

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
 * is waited for but, for three seconds each and several at once, for its receipts. A session that is over keeps its
 * queue, without an error, and so does one whose row cannot be read, of which whoever looks at the rows tells. Goes by
 * the rows, so sessions are observed before: an agent that was at work then is not even looked at.
 *
 * @throws AoError when the store cannot be used.
 */
export async function deliverQueued(deps: SessionDeps): Promise<QueuedDeliveries> {
  const messages: QueuedDelivery[] = [];
  const errors: DeliveryError[] = [];
  const waiting = deps.messages.sessionsWaiting();
  const unreadable = waiting.length === 0 ? [] : deps.store.rows().unreadable.map(({ id }) => String(id));
  const left = waiting.filter((id) => !unreadable.includes(id));
  const deliverLeft = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      const error = await deliverAll(deps, id, messages);
      if (error !== null) errors.push(error);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, deliverLeft));
  return { messages, errors };
}

/** Adds what went out of the queue to `delivered`; `null` when nothing failed. */
async function deliverAll(
  deps: SessionDeps,
  sessionId: SessionId,
  delivered: QueuedDelivery[],
): Promise<DeliveryError | null> {
  try {
    for (let isOn = mayTakeOne(deps, sessionId); isOn; ) {
      const next = await deliverNext(deps, sessionId, TICK_RECEIPT_MS);
      isOn = next.kind === "tried";
      if (next.kind !== "tried") continue;
      const { id: messageId, state } = next.message;
      delivered.push({ messageId, sessionId, state: state.kind });
    }
    return null;
  } catch (error) {
    if (isAoError(error, "not_running")) return null;
    const code = codeOf(error);
    return { subject: `messages of ${sessionId}`, code, message: errorMessage(error) };
  }
}

function mayTakeOne(deps: SessionDeps, id: SessionId): boolean {
  const record = deps.store.get(id);
  if (record === undefined || isTerminal(record.lifecycle)) return false;
  const sent = deps.messages.sent(id);
  const left = sent.find(isDelivering);
  if (left !== undefined) return isReceiptOverdue(left, deps.clock.nowMs());
  const capabilities = deps.agents.get(record.metadata.agent)?.capabilities;
  return whyHeldUp(deps, id) === null && whyNotReady(record, capabilities, sent) === null;
}
