import type { HookEvent } from "./facts.ts";

/** The first line of the file of a hook event that appears in the inbox as a whole, by a rename. */
export const HOOK_FIRST_LINE = "ao-hook 1";
/**
 * The first line of one that is written where it is read. A further header, `end`, names what its last line
 * must say, `hookEndLine`: without that line its writer is not done, or never will be.
 */
export const HOOK_IN_PLACE_LINE = "ao-hook 2";
/** The headers of such a file in their order, one `name value` a line; `time`, Unix milliseconds, may be missing. */
export const HOOK_HEADERS = ["session", "launch", "agent", "event", "time"] as const;
/** Largest body of one event, in bytes: a message of 1 MiB has up to six times that as a JSON string. */
export const MAX_HOOK_BODY_BYTES = 8 * 1024 * 1024;
/** What follows the body of an event that is written in place, its newlines included. */
export function hookEndLine(end: string): string {
  return `\nend ${end}\n`;
}

/** Largest head of an event file, its blank line included, in bytes. */
export const MAX_HOOK_HEAD_BYTES = 8 * 1024;

/** What the file of an event says: its head, a blank line, its body as it came. Pure; checks nothing. */
export function formatHookEvent(event: Omit<HookEvent, "id">): string {
  const { sessionId: session, launchId: launch, agent, event: name, atMs: time, body } = event;
  const values = { session, launch, agent, event: name, time };
  const headers = HOOK_HEADERS.map((header) => `${header} ${values[header]}`);
  return `${[HOOK_FIRST_LINE, ...headers].join("\n")}\n\n${body}`;
}
