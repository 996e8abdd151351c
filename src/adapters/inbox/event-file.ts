import type { HookEvent } from "../../domain/facts.ts";
import {
  HOOK_FIRST_LINE,
  HOOK_HEADERS,
  MAX_HOOK_BODY_BYTES,
  MAX_HOOK_HEAD_BYTES,
} from "../../domain/hook-event.ts";
import { parseLaunchId, parseSessionId } from "../../domain/ids.ts";

const KNOWN_HEADERS: readonly string[] = HOOK_HEADERS;
const HEADER = /^([a-z][a-z-]*) (.+)$/;
/** Names of agents and their events: printable, without spaces, safe on a terminal. */
const NAME = /^[\x21-\x7e]{1,100}$/;
/** Unix milliseconds, all of them times that a date can hold. */
const TIME_MS = /^(?:0|[1-9]\d{0,14})$/;

/** What an event file says. `atMs` is `null` when it leaves the time to the file's own. */
export type EventContent = Omit<HookEvent, "id" | "atMs"> & { readonly atMs: number | null };

/** Where the blank line ends that closes the head, or `undefined` when there is none in time. */
function headEnd(bytes: Buffer): number | undefined {
  const at = bytes.subarray(0, MAX_HOOK_HEAD_BYTES).indexOf("\n\n");
  return at === -1 ? undefined : at + 2;
}

/** The known headers by name, or `undefined` when a line is no header or a known one comes twice. */
function parseHeaders(lines: readonly string[]): ReadonlyMap<string, string> | undefined {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined || headers.has(name)) return undefined;
    if (KNOWN_HEADERS.includes(name)) headers.set(name, value);
  }
  return headers;
}

function matching(pattern: RegExp, text: string | undefined): string | undefined {
  return text !== undefined && pattern.test(text) ? text : undefined;
}

/** The time in milliseconds, `null` when none is given, `undefined` when it is no time. */
function parseTime(text: string | undefined): number | null | undefined {
  if (text === undefined) return null;
  const time = matching(TIME_MS, text);
  return time === undefined ? undefined : Number(time);
}

/**
 * Parses an event file: `ao-hook 1`, headers `name value` one a line, a blank line, then the body as it
 * came. Required are `session`, `launch`, `agent` and `event`; `time` may be there; other headers are
 * ignored. Returns `undefined` for anything else. Bytes of the body that are no UTF-8 become U+FFFD.
 */
export function parseEventFile(bytes: Buffer): EventContent | undefined {
  const bodyStart = headEnd(bytes);
  if (bodyStart === undefined || bytes.length - bodyStart > MAX_HOOK_BODY_BYTES) return undefined;
  const [first, ...lines] = bytes.toString("utf8", 0, bodyStart - 2).split("\n");
  const headers = first === HOOK_FIRST_LINE ? parseHeaders(lines) : undefined;
  const sessionId = parseSessionId(headers?.get("session") ?? "");
  const launchId = parseLaunchId(headers?.get("launch") ?? "");
  const agent = matching(NAME, headers?.get("agent"));
  const event = matching(NAME, headers?.get("event"));
  const atMs = parseTime(headers?.get("time"));
  if (!sessionId || !launchId || !agent || !event || atMs === undefined) return undefined;
  return { sessionId, launchId, agent, event, atMs, body: bytes.toString("utf8", bodyStart) };
}
