import type { LaunchId, MessageId, ProjectId, SessionId, TurnId } from "./ids.ts";
import type { GoalProvenance } from "./turn.ts";

/** How a message reaches the agent: typed into its terminal, or given to it when it is started. */
export const MESSAGE_CHANNELS = ["terminal", "launch"] as const;
export type MessageChannel = (typeof MESSAGE_CHANNELS)[number];

/** One delivery of a message: durable before the first key is sent. */
export interface MessageDelivery {
  readonly launchId: LaunchId;
  /** The turn that it began or, as an answer, belongs to; `null` with an agent whose turns nobody hears of. */
  readonly turnId: TurnId | null;
  /** From when on keys may have been sent, Unix milliseconds. */
  readonly sinceMs: number;
}

/**
 * What became of a message. From `delivering` on it may have reached its agent, and it is not sent again unless
 * it is certain that nothing was typed.
 */
export type MessageState =
  /** Accepted, nothing was sent. */
  | { readonly kind: "queued" }
  | { readonly kind: "delivering"; readonly delivery: MessageDelivery }
  /** The agent's own evidence carried this text. */
  | { readonly kind: "delivered"; readonly delivery: MessageDelivery; readonly atMs: number }
  /** It may have arrived; nothing was heard of it. Late evidence still counts. */
  | { readonly kind: "unconfirmed"; readonly delivery: MessageDelivery }
  /** Certainly not delivered, and not tried again. */
  | { readonly kind: "failed"; readonly error: { readonly code: string; readonly message: string } }
  /** Never sent: its session ended first, or its sender gave up. */
  | { readonly kind: "cancelled"; readonly reason: string };

/** What a message that `ao` itself sends for a goal is for. */
export interface MessageGoal {
  readonly origin: "goal_arm" | "goal_continuation";
  readonly generation: GoalProvenance;
  /** Which turn of the goal it begins, from 1. */
  readonly number: number;
}

/** A message for a session's agent. */
export interface Message<State extends MessageState = MessageState> {
  readonly id: MessageId;
  readonly projectId: ProjectId;
  readonly sessionId: SessionId;
  /** From 1 in each session, in the order of acceptance; messages are delivered in it. */
  readonly number: number;
  readonly channel: MessageChannel;
  /** The sender's own name for it; a repeat finds it by that. */
  readonly requestId: string | null;
  readonly text: string;
  /** `null` when a person or a program sent it. */
  readonly goal: MessageGoal | null;
  readonly state: State;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** From 1, and grows by one on every change. */
  readonly version: number;
}

export type DeliveringMessage = Message<Extract<MessageState, { readonly kind: "delivering" }>>;
/** A message that may have reached its agent without a receipt. */
export type SentMessage = Message<Extract<MessageState, { readonly kind: "delivering" | "unconfirmed" }>>;

/** Whether somebody has said that it is about to be typed, and not yet what became of it. */
export function isDelivering(message: Message): message is DeliveringMessage {
  return message.state.kind === "delivering";
}

/** Whether keys may have been sent of which no receipt is known. */
export function isSent(message: Message): message is SentMessage {
  return message.state.kind === "delivering" || message.state.kind === "unconfirmed";
}
