/**
 * What the model does next in answer to a prompt. A step that calls a tool is followed by the next one once that ended.
 */
export type Step =
  /** Says it at once and ends the turn. */
  | { readonly kind: "text"; readonly text: string }
  /** Says a word every 100 ms until the agent hangs up, or for `words` words. */
  | { readonly kind: "slow"; readonly words: number }
  /** Opens the answer and says nothing until the agent hangs up, or `release` is called on the server. */
  | { readonly kind: "hang" }
  /** Calls the agent's own shell tool. `asks`: in a way for which that agent asks for permission. */
  | { readonly kind: "run"; readonly command: string; readonly asks?: boolean }
  /** Calls any tool by its name; on the Responses wire after a dot where it is in a namespace. */
  | { readonly kind: "tool"; readonly name: string; readonly input: Readonly<Record<string, unknown>> }
  /** Answers with an HTTP error: `times` times, else always. */
  | { readonly kind: "error"; readonly status: number; readonly times?: number };

export const text = (said: string): Step => ({ kind: "text", text: said });
export const slow = (words = 600): Step => ({ kind: "slow", words });
export const hang = (): Step => ({ kind: "hang" });
export const run = (command: string): Step => ({ kind: "run", command });
export const error = (status: number, times?: number): Step => ({
  ...{ kind: "error", status },
  ...(times !== undefined && { times }),
});
