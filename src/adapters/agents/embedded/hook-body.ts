/** What the embedded agent reports, by event name; every body also carries `session_id`. */
export interface HookBodies {
  readonly session_start: { readonly source: "startup" | "resume" | "fork" };
  /** A prompt, message or answer was recorded in the conversation; too large a text is told as `null`. */
  readonly submit: {
    readonly prompt: string | null;
    /** It was taken within a turn that waited for it. */
    readonly answers?: boolean;
  };
  readonly waiting: { readonly question: string };
  readonly resumed: { readonly question: string };
  readonly turn_end: { readonly outcome: TurnEnd; readonly error: string | null };
  readonly session_end: { readonly reason: string };
}

export type HookName = keyof HookBodies;

export type TurnEnd = "completed" | "failed" | "interrupted";
