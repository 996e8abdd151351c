import type { HookEvent } from "../../domain/facts.ts";
import {
  HOOK_FIRST_LINE,
  HOOK_HEADERS,
  HOOK_IN_PLACE_LINE,
  hookEndLine,
  MAX_HOOK_BODY_BYTES,
  MAX_HOOK_HEAD_BYTES,
} from "../../domain/hook-event.ts";
import { parseLaunchId, parseSessionId } from "../../domain/ids.ts";

/** The headers that are read, by the first line of the file. */
const FORMS = new Map<string, readonly string[]>([
  [HOOK_FIRST_LINE, HOOK_HEADERS],
  [HOOK_IN_PLACE_LINE, [...HOOK_HEADERS, "end"]],
]);
const HEADER = /^([a-z][a-z-]*) (.+)$/;
/** Names of agents and their events: printable, without spaces, safe on a terminal. */
const NAME = /^[\x21-\x7e]{1,100}$/;
/** What the last line of an event repeats. */
const END = /^[\x21-\x7e]{1,300}$/;
/** Unix milliseconds, all of them times that a date can hold. */
const TIME_MS = /^(?:0|[1-9]\d{0,14})$/;

/** What an event file says. `atMs` is `null` when it leaves the time to the file's own. */
export type EventContent = Omit<HookEvent, "id" | "atMs"> & { readonly atMs: number | null };

type Headers = ReadonlyMap<string, string>;

/** Where the blank line ends that closes the head, or `undefined` when there is none in time. */
function headEnd(bytes: Buffer): number | undefined {
  const at = bytes.subarray(0, MAX_HOOK_HEAD_BYTES).indexOf("\n\n");
  return at === -1 ? undefined : at + 2;
}

/** The known headers by name, or `undefined` when a line is no header or a known one comes twice. */
function parseHeaders(head: string): Headers | undefined {
  const [first = "", ...lines] = head.split("\n");
  const known = FORMS.get(first);
  if (known === undefined) return undefined;
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined || headers.has(name)) return undefined;
    if (known.includes(name)) headers.set(name, value);
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

/** What the head says, or `undefined` when it is not that of an event. */
function parseFields(headers: Headers): Omit<EventContent, "body"> | undefined {
  const sessionId = parseSessionId(headers.get("session") ?? "");
  const launchId = parseLaunchId(headers.get("launch") ?? "");
  const agent = matching(NAME, headers.get("agent"));
  const event = matching(NAME, headers.get("event"));
  const atMs = parseTime(headers.get("time"));
  if (!sessionId || !launchId || !agent || !event || atMs === undefined) return undefined;
  return { sessionId, launchId, agent, event, atMs };
}

function firstLineStart(bytes: Buffer): string {
  return bytes.toString("latin1", 0, HOOK_IN_PLACE_LINE.length);
}

/** Whether the writer of a file without a whole head may still be at it: so far it is one written in place. */
function mayBecomeEvent(bytes: Buffer): boolean {
  return HOOK_IN_PLACE_LINE.startsWith(firstLineStart(bytes)) && bytes.length < MAX_HOOK_HEAD_BYTES;
}

/** The body of an event that is written in place, by what its last line has to repeat. */
function bodyInPlace(named: string | undefined, rest: Buffer): Buffer | "malformed" | "unfinished" {
  const end = matching(END, named);
  if (end === undefined) return "malformed";
  const last = Buffer.from(hookEndLine(end));
  const bodyBytes = rest.length - last.length;
  return bodyBytes >= 0 && rest.subarray(bodyBytes).equals(last) ? rest.subarray(0, bodyBytes) : "unfinished";
}

/**
 * Parses an event file: its first line, headers `name value` one a line, a blank line, then the body as it
 * came. Required are `session`, `launch`, `agent` and `event`; `time` may be there; other headers are
 * ignored. One that is written in place has `end` too, and a last line that repeats it; as long as that is
 * missing it is `unfinished`, and so is an empty file. Bytes of the body that are no UTF-8 become U+FFFD.
 */
export function parseEventFile(bytes: Buffer): EventContent | "malformed" | "unfinished" {
  const bodyStart = headEnd(bytes);
  if (bodyStart === undefined) return mayBecomeEvent(bytes) ? "unfinished" : "malformed";
  const headers = parseHeaders(bytes.toString("utf8", 0, bodyStart - 2));
  const fields = headers && parseFields(headers);
  if (headers === undefined || fields === undefined) return "malformed";
  const rest = bytes.subarray(bodyStart);
  const body = firstLineStart(bytes) === HOOK_IN_PLACE_LINE ? bodyInPlace(headers.get("end"), rest) : rest;
  if (typeof body === "string") return body;
  return body.length > MAX_HOOK_BODY_BYTES ? "malformed" : { ...fields, body: body.toString("utf8") };
}
