import { type JsonValue, jsonMembers } from "../canonical-json.ts";
import { isTimeMs } from "../iso-time.ts";

const MESSAGE_ROLES = ["user", "assistant", "tool", "system"] as const;
type MessageRole = (typeof MESSAGE_ROLES)[number];

/** Who told `ao` of a message: a hook of the agent, the agent's own log, or `ao` itself. */
const MESSAGE_SOURCES = ["hook", "agent_log", "ao"] as const;
type MessageSource = (typeof MESSAGE_SOURCES)[number];

/** One message of a conversation. Plain JSON; further members are kept and belong to its identity. */
export interface TranscriptMessage {
  readonly [member: string]: JsonValue;
  readonly role: MessageRole;
  readonly text: string;
  /** The turn it belongs to; `null` when that is not known. */
  readonly turnId: string | null;
  readonly source: MessageSource;
  /** When it was said, Unix milliseconds; `null` when the source did not tell. */
  readonly atMs: number | null;
}

/** Parses a message; `undefined` when a member that every message has is missing or of another form. */
export function parseMessage(value: JsonValue): TranscriptMessage | undefined {
  const members = jsonMembers(value);
  return members !== undefined && isMessage(members) ? members : undefined;
}

function isMessage(members: { readonly [name: string]: JsonValue }): members is TranscriptMessage {
  const { role, text, turnId, source, atMs } = members;
  const isTurn = turnId === null || typeof turnId === "string";
  const isTime = atMs === null || (typeof atMs === "number" && isTimeMs(atMs));
  const roles: readonly unknown[] = MESSAGE_ROLES;
  const sources: readonly unknown[] = MESSAGE_SOURCES;
  return isTurn && isTime && typeof text === "string" && roles.includes(role) && sources.includes(source);
}
