import type { Clock } from "../../ports/clock.ts";

/**
 * A clock that is `AO_FAULT_CLOCK_MS` milliseconds ahead of another one, behind when negative, for test builds
 * alone: a process with another shift is one after the clock was set. Sleeping takes as long as ever.
 */
export function shiftedClock(clock: Clock, env: Readonly<Record<string, string | undefined>>): Clock {
  const shiftMs = Number(env["AO_FAULT_CLOCK_MS"] ?? 0);
  return { ...clock, nowMs: () => clock.nowMs() + shiftMs };
}
