import type { Ask } from "./facts.ts";
import type { LaunchId } from "./ids.ts";

/** A hook event as it was read. */
export interface HeardEvent {
  readonly id: string;
  readonly launchId: LaunchId;
  /** When it happened, as it says itself; Unix milliseconds. */
  readonly atMs: number;
  /** When it was read. One that lies ahead of this counts as of this moment. */
  readonly readAtMs: number;
}

/** What was heard of one launch so far: enough to count an event once, however often it is read. */
export interface HeardEvents {
  readonly launchId: LaunchId;
  /** The moment as of which the latest counted. Whatever says that it was earlier is old news. */
  readonly atMs: number;
  /** Those that counted and whose own time does not make them old news. */
  readonly events: readonly { readonly id: string; readonly atMs: number }[];
  /** What the agent waits for, as the latest that told its activity says. */
  readonly asks: Ask | null;
  /** Since the clock was set back: what says that it will be later, but before this, is from before. */
  readonly setBackFromMs?: number;
}

/** No event waits to be read again for that long. A clock that stands so far before the last was set back. */
const SET_BACK_MS = 60_000;

/**
 * Whether an event did not count yet. Exact for events of one moment, and for clocks that jump; one that
 * comes late, after others that are newer, is old news.
 */
export function isNewEvent(heard: HeardEvents | null, event: HeardEvent, nowMs: number): boolean {
  if (heard === null || heard.launchId !== event.launchId) return true;
  return !isOldNews(heard, event, nowMs) && heard.events.every(({ id }) => id !== event.id);
}

/** What was heard after a new event; `asks` when it tells nothing of what its agent does is `undefined`. */
export function afterHearing(
  heard: HeardEvents | null,
  event: HeardEvent,
  { asks, nowMs }: { readonly asks: Ask | null | undefined; readonly nowMs: number },
): HeardEvents {
  const { id, launchId, atMs: ownTimeMs } = event;
  const known = heard?.launchId === launchId ? heard : null;
  const atMs = countsAsOf(event);
  const events = [...(known?.events ?? []), { id, atMs: ownTimeMs }].filter((one) => one.atMs >= atMs);
  const setBackFromMs = known === null ? undefined : setBackFrom(known, nowMs);
  return {
    ...{ launchId, atMs, events, asks: asks === undefined ? (known?.asks ?? null) : asks },
    ...(setBackFromMs !== undefined && { setBackFromMs }),
  };
}

function isOldNews(heard: HeardEvents, event: HeardEvent, nowMs: number): boolean {
  const fromMs = setBackFrom(heard, nowMs);
  const isFromBefore = fromMs !== undefined && event.atMs > event.readAtMs && event.atMs < fromMs;
  return isFromBefore || (countsAsOf(event) < heard.atMs && !isSetBack(heard, nowMs));
}

function isSetBack({ atMs }: HeardEvents, nowMs: number): boolean {
  return atMs - nowMs > SET_BACK_MS;
}

/** Where the clock stood before it was set back; `undefined` when it was not, or has come there again. */
function setBackFrom(heard: HeardEvents, nowMs: number): number | undefined {
  const fromMs = isSetBack(heard, nowMs) ? heard.atMs : heard.setBackFromMs;
  return fromMs !== undefined && fromMs > nowMs ? fromMs : undefined;
}

function countsAsOf({ atMs, readAtMs }: HeardEvent): number {
  return Math.min(atMs, readAtMs);
}
