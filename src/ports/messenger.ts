import type { RuntimeTarget } from "./runtime.ts";

export interface MessageTarget extends RuntimeTarget {
  /** As `AgentCapabilities` has it; false where it is not known. */
  readonly bracketedPaste: boolean;
  /** As `AgentCapabilities` has it. */
  readonly enterDelayMs?: number;
}

/** Whether keys reached a terminal; `unknown` when there was no answer: they may have. */
export type Typed = { readonly kind: "typed" } | { readonly kind: "unknown"; readonly cause: string };

/** Types into an agent's terminal. Whether the agent took it up is for its own evidence to say. */
export interface Messenger {
  /**
   * Whether a person scrolls or chooses something in the agent's terminal now. Nothing is typed then. False when the
   * agent is gone or the runtime does not answer: `send` says so.
   */
  isInUse(target: RuntimeTarget): Promise<boolean>;
  /**
   * Types the text as one paste followed by a separate Enter. Any content up to 1 MB arrives byte for byte, or is
   * refused: a text is never changed, but for newlines at its end, which that Enter stands for. Sends to one agent
   * never interleave.
   *
   * @throws AoError not_running when the agent is gone.
   * @throws AoError message_unsafe when the text holds control characters and the agent does not take a paste as
   *   text; nothing was submitted.
   * @throws AoError delivery_failed when the terminal refuses input; nothing was submitted.
   * @throws AoError runtime_unavailable when the runtime did not answer, or the terminal is in use; nothing was typed.
   */
  send(target: MessageTarget, text: string): Promise<Typed>;
  /**
   * Presses keys one after the other, with nothing between them.
   *
   * @param keys their names in tmux(1), KEY BINDINGS, for example `Escape` or `C-c`.
   * @throws AoError not_running when the agent is gone.
   * @throws AoError delivery_failed when the terminal refuses input; nothing was pressed.
   * @throws AoError runtime_unavailable when the runtime did not answer; nothing was pressed.
   */
  press(target: RuntimeTarget, keys: readonly string[]): Promise<Typed>;
}
