import { assertNever } from "../../domain/assert-never.ts";
import type { JsonValue } from "../../domain/canonical-json.ts";
import type { Message, MessageState } from "../../domain/message.ts";
import { isSettledTurn, type Turn } from "../../domain/turn.ts";
import type { Change } from "../../ports/change-log.ts";

/** What the change log tells of a turn: `turn.<phase>`. */
export function turnChange(turn: Turn, atMs: number): Omit<Change, "sequence"> {
  const { projectId, sessionId, turnId, sequence, origin, messageId, error, state } = turn;
  const outcome = isSettledTurn(turn) ? turn.state.outcome : null;
  const told = error === null ? null : { code: error.code, message: error.message };
  return {
    ...{ atMs, projectId, sessionId, type: `turn.${state.kind}` },
    data: { turnId, sequence, outcome, origin, messageId, error: told },
  };
}

/** What the change log tells of a message: `message.<state>`, and never its text. */
export function messageChange(message: Message, atMs: number): Omit<Change, "sequence"> {
  const { projectId, sessionId, id, number, channel, state } = message;
  return {
    ...{ atMs, projectId, sessionId, type: `message.${state.kind}` },
    data: { messageId: id, number, channel, ...detailsOf(state) },
  };
}

function detailsOf(state: MessageState): { readonly [name: string]: JsonValue } {
  switch (state.kind) {
    case "queued":
      return {};
    case "delivering":
    case "delivered":
    case "unconfirmed":
      return { turnId: state.delivery.turnId };
    case "failed":
      return { error: { code: state.error.code, message: state.error.message } };
    case "cancelled":
      return { reason: state.reason };
    default:
      return assertNever(state);
  }
}
