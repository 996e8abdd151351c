import type { CancelAnswer } from "../domain/cancel-answer.ts";
import type { TurnId } from "../domain/ids.ts";
import type { AgentPlace, AgentTarget } from "./agent-target.ts";
import type { EnvMarker } from "./process-table.ts";

/** The turn to stop, and where its agent runs. */
export interface CancelTarget extends AgentTarget {
  readonly turnId: TurnId;
}

/** How an agent is told to stop its turn. */
export type AgentCancel =
  /**
   * By keys in its terminal, as tmux names them, pressed one after the other; its own evidence confirms. `clearing`
   * keys are pressed after that, for an agent that may have put the prompt back into its input. `toolMarks` is of an
   * agent whose tools outlive a turn that was stopped: by which variables the processes of the tools of its last turn
   * are known. It reads only the agent's own files and never rejects.
   */
  | {
      readonly kind: "keys";
      readonly keys: readonly string[];
      readonly clearing?: readonly string[];
      readonly toolMarks?: (place: AgentPlace) => Promise<readonly EnvMarker[]>;
    }
  /**
   * By a channel of its own, which answers in a few seconds. Rejects for nothing that is foreseen: the answer
   * says it.
   */
  | { readonly kind: "call"; readonly cancelTurn: (target: CancelTarget) => Promise<CancelAnswer> };
