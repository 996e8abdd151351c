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
  const tells = capabilities?.hooks === true || capabilities?.showsReadiness === true;
  return tells ? whyBusy(record) : null;
}

/** An agent that tells what it does takes a message while it rests, or as the answer to its question. */
function whyBusy({ id, lifecycle, metadata }: SessionRecord): string | null {
  switch (lifecycle.activity.state) {
    case null:
      return `its agent has not begun yet; see what it waits for: ao output ${id}`;
    case "active":
      return "its agent is at work";
    case "exited":
      return "its agent has ended";
    case "waiting_input":
      return metadata.heard?.asks === "permission"
        ? `its agent asks for permission, which a message would answer; answer it: ao attach ${id}`
        : null;
    case "ready":
    case "idle":
    case "blocked":
      return null;
  }
}

/**
 * Whether nothing will be heard any more of a message that is on its way. Its time may lie ahead by a clock that was
 * set back.
 */
export function isReceiptOverdue({ channel, state }: SentMessage, nowMs: number): boolean {
  const waitMs = channel === "launch" ? LAUNCH_RECEIPT_MS : RECEIPT_MS;
  return Math.abs(nowMs - state.delivery.sinceMs) >= waitMs;
}
