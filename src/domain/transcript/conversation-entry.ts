import type { JsonValue } from "../canonical-json.ts";
import type { TranscriptMessage } from "./message.ts";

/** One thing that was said or done in a conversation, as its agent tells it. */
export interface ConversationEntry {
  /** Where it stands in its conversation: unique in it, and greater than that of all before. */
  readonly position: number;
  /** The position of the one before, so that what was not told is noticed; `null` for the first. */
  readonly after: number | null;
  readonly role: TranscriptMessage["role"];
  /** `null` when only the agent's own log holds the text. */
  readonly text: string | null;
  /** Unix milliseconds; `null` when the agent does not tell. */
  readonly atMs: number | null;
  /** It begins a turn, ends one, or neither. */
  readonly edge?: "start" | "end" | undefined;
  /** What a message of it has beside, for example `tool` or `turnEnd`. */
  readonly detail: { readonly [member: string]: JsonValue };
}
