import type { HookEvent } from "../../domain/facts.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";

type EventsBySession = ReadonlyMap<string, readonly HookEvent[]>;

/** How long the hooks of an agent at work are still before its own log is asked, in milliseconds. */
export const STILL_MS = 5000;

/**
 * When the running launch of a session last told something by hooks, pending ones included, Unix milliseconds;
 * `null` when it never did.
 */
export function lastHeardMs(
  events: EventsBySession,
  { id, lifecycle, metadata }: SessionRecord,
): number | null {
  const { heard, launchId } = metadata;
  const { source, lastActivityAtMs } = lifecycle.activity;
  const known = [
    ...(heard?.launchId === launchId ? [heard.atMs] : []),
    ...(source === "hook" ? [lastActivityAtMs ?? 0] : []),
    ...(events.get(id) ?? []).filter((event) => event.launchId === launchId).map(({ atMs }) => atMs),
  ];
  return known.length === 0 ? null : Math.max(...known);
}

/** Whether an agent may be at work by its hooks, which have told nothing for a while: one of them may be lost. */
export function mayHaveLostWords(events: EventsBySession, record: SessionRecord, nowMs: number): boolean {
  const { id, lifecycle } = record;
  const { state } = lifecycle.activity;
  const mayWork = state === "active" || state === "waiting_input" || events.has(id);
  if (isTerminal(lifecycle) || !mayWork) return false;
  const heardAtMs = lastHeardMs(events, record);
  return heardAtMs !== null && nowMs - heardAtMs >= STILL_MS;
}
