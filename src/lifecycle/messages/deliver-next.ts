import { AoError, errorMessage, isAoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { literalText } from "../../domain/literal-text.ts";
import { isDelivering, type Message } from "../../domain/message.ts";
import { leaveUnconfirmed } from "../../domain/message-transitions.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { MessageTarget, Typed } from "../../ports/messenger.ts";
import type { SessionDeps } from "../deps.ts";
import { agentPlace } from "../launch-agent.ts";
import { crossing } from "../operations/crossing.ts";
import { patience } from "../patience.ts";
import { saveMessage, settleTyping } from "./after-typing.ts";
import { whyHeldUp } from "./held-up.ts";
import { markDelivery } from "./mark-delivery.ts";
import { requireMessage } from "./message-rows.ts";
import { messagesLock } from "./messages-lock.ts";
import { hearSession, type LiveSession, observeLive } from "./observe-target.ts";
import { isReceiptOverdue, RECEIPT_MS, whyNotReady } from "./readiness.ts";

/** What an attempt to deliver the next message of a session came to. */
export type NextDelivery =
  /** It was sent, or certainly not: its state says which. */
  | { readonly kind: "tried"; readonly message: Message }
  /** The agent cannot take one now. */
  | { readonly kind: "not_ready"; readonly why: string }
  /** Another process is at it. */
  | { readonly kind: "held" }
  /** Nothing is queued. */
  | { readonly kind: "none" };

const HELD: NextDelivery = { kind: "held" };
const IN_USE = "a person scrolls or chooses in its terminal (copy mode); it is typed once that is over";
/** Between two looks for a receipt. */
const POLL_MS = 50;

/**
 * Delivers the message of a session that was queued first, if its agent can take it and no operation has the session
 * for itself, and waits for the receipt.
 * A receipt that does not come within `receiptMs` is left to whoever comes next: the message is on its way until then.
 * One process at a time does so for a session; what one that died had begun is settled first and never sent again.
 *
 * @throws AoError session_not_found
 * @throws AoError not_running when the session is over or its agent gone; nothing was sent.
 * @throws AoError runtime_unavailable when it could not look or type; nothing was sent.
 */
export async function deliverNext(
  deps: SessionDeps,
  id: SessionId,
  receiptMs = RECEIPT_MS,
): Promise<NextDelivery> {
  try {
    return await deps.locks.withLock(messagesLock(id), () => deliver(deps, id, receiptMs), { waitMs: 0 });
  } catch (error) {
    if (isAoError(error, "operation_in_progress")) return HELD;
    throw error;
  }
}

async function deliver(deps: SessionDeps, id: SessionId, receiptMs: number): Promise<NextDelivery> {
  const live = await observeLive(deps, id);
  settleLeft(deps, live);
  const message = deps.messages.firstQueued(id);
  if (message === undefined) return { kind: "none" };
  const why = whyHeldUp(deps, id) ?? whyNotReady(live.record, live.capabilities, deps.messages.sent(id));
  if (why !== null) return { kind: "not_ready", why };
  if (await deps.messenger.isInUse(live.target)) return { kind: "not_ready", why: IN_USE };
  const marked = await crossing(deps, "send.mark", () => markDelivery(deps, live, message.id));
  if (marked.kind === "not_ready") return marked;
  return { kind: "tried", message: await send(deps, live, { marked: marked.message, receiptMs }) };
}

/**
 * Nobody else is at it, so what is on its way was left by a process that died, or by the agent's start. It holds
 * others up only as long as its receipt may still come.
 */
function settleLeft(deps: SessionDeps, { record }: LiveSession): void {
  const left = deps.messages.sent(record.id).find(isDelivering);
  const nowMs = deps.clock.nowMs();
  if (left === undefined || !isReceiptOverdue(left, nowMs)) return;
  saveMessage(deps, left, leaveUnconfirmed(left, nowMs));
}

async function send(
  deps: SessionDeps,
  live: LiveSession,
  { marked, receiptMs }: { readonly marked: Message; readonly receiptMs: number },
): Promise<Message> {
  const { record, target, capabilities } = live;
  const { receipts = false, bracketedPaste = false, enterDelayMs } = capabilities ?? {};
  const typing = { ...target, bracketedPaste, ...(enterDelayMs !== undefined && { enterDelayMs }) };
  try {
    await crossing(deps, "send.type", () => handOver(deps, record, typing, marked));
  } catch (error) {
    settleTyping(deps, { record, message: marked, error: asAoError(error) });
    throw error;
  }
  if (receipts) return awaitReceipt(deps, marked, receiptMs);
  saveMessage(deps, marked, leaveUnconfirmed(marked, deps.clock.nowMs()));
  return requireMessage(deps, marked.id);
}

/** By the agent's own door where it has one that is open, else by its keyboard. */
async function handOver(
  deps: SessionDeps,
  record: SessionRecord,
  target: MessageTarget,
  { text }: Message,
): Promise<Typed> {
  const agent = deps.agents.get(record.metadata.agent);
  const handed = await agent?.deliver?.({ ...target, ...agentPlace(deps.dataDir, record) }, text);
  if (handed !== undefined && handed.kind !== "closed") return handed;
  return deps.messenger.send(target, literalText(text, agent?.capabilities.commandMarks));
}

function asAoError(error: unknown): AoError {
  return isAoError(error) ? error : new AoError("internal", errorMessage(error), { cause: error });
}

/** Listens until the receipt is there, or nothing will be heard any more; the message as it stands then. */
async function awaitReceipt(
  deps: SessionDeps,
  { id, sessionId }: Message,
  receiptMs: number,
): Promise<Message> {
  const isOver = patience(deps.clock, Math.min(receiptMs, RECEIPT_MS));
  for (;;) {
    await hearSession(deps, sessionId);
    const message = requireMessage(deps, id);
    if (!isDelivering(message)) return message;
    const nowMs = deps.clock.nowMs();
    const isPatient = !isOver();
    if (!isPatient && receiptMs < RECEIPT_MS) return message;
    if (!isPatient || isReceiptOverdue(message, nowMs)) {
      saveMessage(deps, message, leaveUnconfirmed(message, nowMs));
      return requireMessage(deps, id);
    }
    await isOver.pause(POLL_MS);
  }
}
