import type { Message, MessageDelivery, MessageState } from "../../src/domain/message.ts";
import { launchId, projectId, sessionId, T0_MS } from "./builders.ts";
import { messageId, turnId } from "./turns.ts";

/** Typed to launch `launch-1` for turn `turn-1` at `T0_MS`. */
export function aDelivery(overrides: Partial<MessageDelivery> = {}): MessageDelivery {
  return { launchId: launchId("launch-1"), turnId: turnId(), sinceMs: T0_MS, ...overrides };
}

/** What `aMessage` may be told: ids as plain text. */
type MessageOverrides<State extends MessageState> = Partial<
  Omit<Message<State>, "id" | "projectId" | "sessionId" | "state">
> & {
  readonly id?: string;
  readonly projectId?: string;
  readonly sessionId?: string;
};

/** Message `message-1` "hello", the first of session `app-1`, accepted at `T0_MS`, in the state given. */
export function aMessageIn<State extends MessageState>(
  state: State,
  overrides: MessageOverrides<State> = {},
): Message<State> {
  const { id = "message-1", projectId: project = "app", sessionId: session = "app-1", ...rest } = overrides;
  return {
    id: messageId(id),
    projectId: projectId(project),
    sessionId: sessionId(session),
    number: 1,
    channel: "terminal",
    requestId: null,
    text: "hello",
    goal: null,
    state,
    createdAtMs: T0_MS,
    updatedAtMs: T0_MS,
    version: 1,
    ...rest,
  };
}

/** The same, queued. */
export function aMessage(overrides: MessageOverrides<MessageState> = {}): Message {
  return aMessageIn<MessageState>({ kind: "queued" }, overrides);
}
