/** Where a record stands in its conversation. */
export interface RecordPlace {
  /** Greater than that of every record before, also than those that the file has lost since. */
  readonly position: number;
  /** That of the record before; `null` for the first one. */
  readonly after: number | null;
  readonly atMs: number;
}

/** What the embedded agent reports, by event name; every body also carries `session_id`. */
export interface HookBodies {
  readonly session_start: { readonly source: "startup" | "resume" | "fork" };
  /** A prompt, message or answer was recorded in the conversation; too large a text is told as `null`. */
  readonly submit: {
    readonly prompt: string | null;
    readonly place: RecordPlace;
    /** It was taken within a turn that waited for it. */
    readonly answers?: boolean;
  };
  readonly waiting: { readonly question: string };
  readonly resumed: { readonly question: string };
  /** Something was said to the person; `question` when an answer is waited for. Too large a text is `null`. */
  readonly reply: { readonly text: string | null; readonly question?: boolean; readonly place: RecordPlace };
  /** A file is about to be changed. */
  readonly tool: { readonly name: string; readonly path: string; readonly place: RecordPlace };
  /** `place` is `null` when the end could not be recorded. */
  readonly turn_end: {
    readonly outcome: TurnEnd;
    readonly error: string | null;
    readonly place: RecordPlace | null;
  };
  readonly session_end: { readonly reason: string };
}

export type HookName = keyof HookBodies;

export type TurnEnd = "completed" | "failed" | "interrupted";
