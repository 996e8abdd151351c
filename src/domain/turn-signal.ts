/**
 * What one hook event says of a turn. What an agent waits for and that it goes on is told by its activity.
 *
 * `submitted`: it took a prompt up, and a turn begins; `text` is that prompt, `null` when the agent does not tell
 * it. `answered`: it took a message up inside the turn that runs, for example as the answer to its question.
 */
export type TurnSignal =
  | {
      readonly kind: "submitted";
      readonly text: string | null;
      /** The agent prompted itself, as when its background work reports; nobody sent this. */
      readonly byAgent?: boolean;
    }
  | { readonly kind: "answered"; readonly text: string | null }
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly code: string; readonly message: string }
  | { readonly kind: "interrupted" };
