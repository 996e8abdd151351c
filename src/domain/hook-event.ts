import type { HookEvent } from "./facts.ts";

/** The first line of the file of a hook event; another number is another form. */
export const HOOK_FIRST_LINE = "ao-hook 1";
/** The headers of such a file in their order, one `name value` a line; `time`, Unix milliseconds, may be missing. */
export const HOOK_HEADERS = ["session", "launch", "agent", "event", "time"] as const;
/** Largest body of one event, in bytes: a message of 1 MiB has up to six times that as a JSON string. */
export const MAX_HOOK_BODY_BYTES = 8 * 1024 * 1024;
/** Largest head of an event file, its blank line included, in bytes. */
export const MAX_HOOK_HEAD_BYTES = 8 * 1024;

/** What the file of an event says: its head, a blank line, its body as it came. Pure; checks nothing. */
export function formatHookEvent(event: Omit<HookEvent, "id">): string {
  const { sessionId: session, launchId: launch, agent, event: name, atMs: time, body } = event;
  const values = { session, launch, agent, event: name, time };
  const headers = HOOK_HEADERS.map((header) => `${header} ${values[header]}`);
  return `${[HOOK_FIRST_LINE, ...headers].join("\n")}\n\n${body}`;
}
