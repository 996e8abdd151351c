/** The last moment that ECMAScript dates can name (ECMA-262, Time Values and Time Range). */
const MAX_TIME_MS = 8.64e15;

/** Whether a number is a moment from 1970 on that can be written as ISO 8601; fractions are allowed. */
export function isTimeMs(timeMs: number): boolean {
  return timeMs >= 0 && timeMs <= MAX_TIME_MS;
}

/** Unix milliseconds as ISO 8601 UTC with milliseconds; `null` stays `null`. Times must pass `isTimeMs`. */
export function isoTime(timeMs: number): string;
export function isoTime(timeMs: number | null): string | null;
export function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
