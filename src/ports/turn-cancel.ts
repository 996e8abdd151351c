import type { CancelAnswer } from "../domain/cancel-answer.ts";
import type { TurnId } from "../domain/ids.ts";
import type { AgentTarget } from "./agent-target.ts";

/** The turn to stop, and where its agent runs. */
export interface CancelTarget extends AgentTarget {
  readonly turnId: TurnId;
}

/** How an agent is told to stop its turn. */
export type AgentCancel =
  /**
   * By keys in its terminal, as tmux names them, pressed one after the other; its own evidence confirms. `clearing`
   * keys are pressed after that, for an agent that may have put the prompt back into its input.
   */
  | { readonly kind: "keys"; readonly keys: readonly string[]; readonly clearing?: readonly string[] }
  /**
   * By a channel of its own, which answers in a few seconds. Rejects for nothing that is foreseen: the answer
   * says it.
   */
  | { readonly kind: "call"; readonly cancelTurn: (target: CancelTarget) => Promise<CancelAnswer> };
