import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { Message } from "../../domain/message.ts";
import { printable } from "../../domain/printable.ts";
import type { SessionDeps } from "../deps.ts";
import { notRunning } from "../live-target.ts";
import { crossing } from "../operations/crossing.ts";
import { requireSession } from "../session-refs.ts";
import { insertMessage, type MessageDeps, nextMessage } from "./message-rows.ts";

export interface MessageRequest {
  readonly text: string;
  /** The sender's own name for it; repeated with it and the same text, the first one is meant. */
  readonly requestId: string | null;
}

/**
 * Puts a message into the queue of its session: from here on it is accepted, and is delivered by whoever comes.
 *
 * @throws AoError session_not_found
 * @throws AoError not_running when the session is over.
 * @throws AoError request_conflict when another text was sent under that request id.
 */
export async function acceptMessage(
  deps: MessageDeps & Pick<SessionDeps, "store" | "boundary">,
  id: SessionId,
  request: MessageRequest,
): Promise<Message> {
  return crossing(deps, "send.queue", () => deps.store.transaction(() => acceptOnce(deps, id, request)));
}

function acceptOnce(
  deps: MessageDeps & Pick<SessionDeps, "store">,
  id: SessionId,
  { text, requestId }: MessageRequest,
): Message {
  const record = requireSession(deps, id);
  const earlier = requestId === null ? undefined : deps.messages.ofRequest(id, requestId);
  if (earlier !== undefined) {
    if (earlier.text === text) return earlier;
    throw new AoError(
      "request_conflict",
      `request ${printable(requestId ?? "")} sent another message before`,
      {
        hint: "repeat it with the same text, or give it another request id",
        details: { messageId: earlier.id, sessionId: id },
      },
    );
  }
  if (isTerminal(record.lifecycle)) throw notRunning(record);
  const message = nextMessage(deps, record, { channel: "terminal", requestId, text });
  insertMessage(deps, message);
  return message;
}
