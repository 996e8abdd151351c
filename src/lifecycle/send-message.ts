import type { SessionId } from "../domain/ids.ts";
import type { SessionDeps } from "./deps.ts";

export interface SendOptions {
  /** Longest wait for an agent that has not begun yet, and again for its receipt, in milliseconds. */
  readonly timeoutMs: number;
}

export interface SendResult {
  readonly messageId: string;
  readonly sessionId: SessionId;
  /** `unconfirmed` only for agents that cannot confirm. */
  readonly state: "delivered" | "unconfirmed";
  readonly turnId: null;
}

/**
 * Brings a message to a session's agent.
 *
 * @throws AoError usage when the text is empty, holds NUL or is over 1 MB.
 * @throws AoError session_not_found
 * @throws AoError not_running when the session is terminated or its agent gone.
 * @throws AoError busy when the agent was not heard from within `timeoutMs`; nothing was sent.
 * @throws AoError delivery_unconfirmed when an agent that confirms did not; it may have the message.
 * @throws AoError delivery_failed, runtime_unavailable
 */
export declare function sendMessage(
  deps: SessionDeps,
  id: SessionId,
  text: string,
  options: SendOptions,
): Promise<SendResult>;
