import type { Clock } from "../ports/clock.ts";

/** Tells whether a wait is over. */
export interface Patience {
  (): boolean;
  /** Sleeps, and counts it. */
  readonly pause: (ms: number) => Promise<void>;
}

/**
 * A wait of `withinMs` from now: over by the clock or by the time slept, whichever is longer. What is done between
 * two pauses counts, and a clock that is set back makes no wait longer.
 */
export function patience(clock: Pick<Clock, "nowMs" | "sleep">, withinMs: number): Patience {
  const startedAtMs = clock.nowMs();
  let sleptMs = 0;
  const isOver = () => Math.max(sleptMs, clock.nowMs() - startedAtMs) >= withinMs;
  return Object.assign(isOver, {
    pause: async (ms: number) => {
      await clock.sleep(ms);
      sleptMs += ms;
    },
  });
}
