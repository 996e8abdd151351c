import { assertNever } from "../../domain/assert-never.ts";
import { AoError } from "../../domain/errors.ts";
import type { MessageId, SessionId, TurnId } from "../../domain/ids.ts";
import type { Message, MessageDelivery } from "../../domain/message.ts";
import type { SessionDeps } from "../deps.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import { requireSession } from "../session-refs.ts";
import { limitCheckpoints } from "../turns/limit-checkpoints.ts";
import { acceptMessage } from "./accept-message.ts";
import { awaitMessage } from "./await-message.ts";
import { observeLive } from "./observe-target.ts";

const MAX_BYTES = 1024 * 1024;

export interface SendOptions {
  /** Longest wait for an agent that cannot take the message yet, in milliseconds. */
  readonly timeoutMs: number;
  /** False leaves it queued, for whoever comes next. */
  readonly wait?: boolean;
  /** Repeated with the same id and text, the first message is meant, and what became of it. */
  readonly requestId?: string | null;
}

export interface SendResult {
  readonly messageId: MessageId;
  readonly sessionId: SessionId;
  /** `unconfirmed` only for agents that cannot confirm. */
  readonly state: "delivered" | "queued" | "unconfirmed";
  /** The turn that the message began, or that it answered in. */
  readonly turnId: TurnId | null;
  /** Why it is still queued, in one clause. */
  readonly waitsFor: string | null;
}

/**
 * Sends a message to a session's agent: it is accepted into the session's queue, and delivered in its order as soon
 * as the agent can take it. What is still queued when the time is over is delivered by whoever comes next.
 *
 * @throws AoError usage when the text is empty, holds NUL or is over 1 MiB.
 * @throws AoError session_not_found, request_conflict
 * @throws AoError not_running when the session is terminated or its agent gone; the message is not queued then.
 * @throws AoError runtime_unavailable when it could not look; nothing was accepted.
 * @throws AoError delivery_unconfirmed when an agent that confirms did not; it may have the message.
 * @throws AoError message_unsafe when the text holds control characters that its terminal would take as keys.
 * @throws AoError delivery_failed when its terminal takes no input.
 */
export async function sendMessage(
  deps: SessionDeps,
  id: SessionId,
  text: string,
  { timeoutMs, wait = true, requestId = null }: SendOptions,
): Promise<SendResult> {
  refuseBadMessage(text);
  await recoverOperations(deps);
  const isRepeat = requestId !== null && deps.messages.ofRequest(id, requestId) !== undefined;
  if (wait && !isRepeat)
    await observeLive(
      limitCheckpoints(deps, () => timeoutMs),
      id,
    );
  const accepted = await acceptMessage(deps, id, { text, requestId });
  if (!wait) return resultOf(deps, accepted, "it was left to be delivered later");
  const { message, waitsFor } = await awaitMessage(deps, accepted, timeoutMs);
  return resultOf(deps, message, waitsFor);
}

function refuseBadMessage(text: string): void {
  if (text.trim() === "") throw new AoError("usage", "the message is empty");
  if (text.includes("\0")) throw new AoError("usage", "the message contains a NUL character");
  // UTF-8 takes at most 3 bytes for a UTF-16 code unit (RFC 3629).
  const mayBeLong = text.length * 3 > MAX_BYTES;
  if (!mayBeLong || new TextEncoder().encode(text).length <= MAX_BYTES) return;
  throw new AoError("usage", "the message is longer than 1 MiB", {
    hint: "put it into a file of the worktree and send the file's name",
  });
}

function resultOf(deps: SessionDeps, message: Message, waitsFor: string | null): SendResult {
  const { id: messageId, sessionId, state } = message;
  const result = { messageId, sessionId, turnId: null, waitsFor: null };
  switch (state.kind) {
    case "queued":
      return { ...result, state: "queued", waitsFor };
    case "delivered":
      return { ...result, state: "delivered", turnId: state.delivery.turnId };
    case "delivering":
    case "unconfirmed":
      if (confirms(deps, sessionId)) throw unconfirmed(message, state.delivery);
      return { ...result, state: "unconfirmed", turnId: state.delivery.turnId };
    case "failed":
      throw failed(message, state.error);
    case "cancelled":
      throw new AoError("not_running", `the message for ${sessionId} was not sent: ${state.reason}`, {
        details: detailsOf(message),
      });
    default:
      return assertNever(state);
  }
}

function confirms(deps: Pick<SessionDeps, "store" | "agents">, id: SessionId): boolean {
  const { metadata } = requireSession(deps, id);
  return deps.agents.get(metadata.agent)?.capabilities.receipts === true;
}

function unconfirmed(message: Message, { turnId }: MessageDelivery): AoError {
  const { sessionId } = message;
  return new AoError("delivery_unconfirmed", `the agent of ${sessionId} did not confirm the message`, {
    hint: `it may have arrived, and is not sent again; look: ao output ${sessionId}`,
    details: { ...detailsOf(message), turnId },
  });
}

/** What another process met that delivered it. */
function failed(
  message: Message,
  { code, message: why }: { readonly code: string; readonly message: string },
): AoError {
  const known = code === "message_unsafe" ? code : "delivery_failed";
  return new AoError(known, why, { details: detailsOf(message) });
}

function detailsOf({ id: messageId, sessionId }: Message) {
  return { messageId, sessionId };
}
