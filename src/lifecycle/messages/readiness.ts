import { isDelivering, type SentMessage } from "../../domain/message.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { AgentCapabilities } from "../../ports/agent.ts";

/** How long a receipt is waited for after the keys were sent. */
export const RECEIPT_MS = 20_000;
/** An agent that was just started may ask something before it takes its prompt up. */
const LAUNCH_RECEIPT_MS = 60_000;

/** Why an agent cannot take a message now, in one clause; `null` when it can. */
export function whyNotReady(
  record: SessionRecord,
  capabilities: AgentCapabilities | undefined,
  sent: readonly SentMessage[],
): string | null {
  if (sent.some(isDelivering)) return "an earlier message is on its way";
  if (capabilities?.hooks === true) return whyBusy(record);
  if (capabilities?.showsReadiness === true) return whySilent(record) ?? whyBusy(record);
  return capabilities?.needsReadiness === true
    ? `nothing tells when its agent takes a message; declare what its screen shows then: agents.${record.metadata.agent}.screen.ready`
    : null;
}

/** That a terminal is quiet is no sign that its agent rests: a prompt that nobody knows is quiet too. */
function whySilent({ id, lifecycle }: SessionRecord): string | null {
  if (lifecycle.activity.source !== "runtime") return null;
  return `its screen does not show that its agent takes a message; see it: ao output ${id}`;
}

/** An agent that tells what it does takes a message while it rests, or as the answer to its question. */
function whyBusy(record: SessionRecord): string | null {
  const { id, lifecycle } = record;
  switch (lifecycle.activity.state) {
    case null:
      return `its agent has not begun yet; see what it waits for: ao output ${id}`;
    case "active":
      return "its agent is at work";
    case "exited":
      return "its agent has ended";
    case "waiting_input":
      return mayAskForLeave(record)
        ? `its agent asks for permission, which a message would answer; answer it: ao attach ${id}`
        : null;
    case "ready":
    case "idle":
    case "blocked":
      return null;
  }
}

/** What is on a screen and was not declared a plain question may ask for leave, or for trust. */
function mayAskForLeave({ lifecycle, metadata }: SessionRecord): boolean {
  const { source, asks } = lifecycle.activity;
  return source === "terminal" ? asks !== "question" : metadata.heard?.asks === "permission";
}

/**
 * Whether nothing will be heard any more of a message that is on its way. Its time may lie ahead by a clock that was
 * set back.
 */
export function isReceiptOverdue({ channel, state }: SentMessage, nowMs: number): boolean {
  const waitMs = channel === "launch" ? LAUNCH_RECEIPT_MS : RECEIPT_MS;
  return Math.abs(nowMs - state.delivery.sinceMs) >= waitMs;
}
