import { setTimeout } from "node:timers/promises";
import type { Clock } from "../../ports/clock.ts";

/** A longer timer fires at once (Node 20 documentation, setTimeout). */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's clock. Sleeping is measured by a clock that never jumps. */
export function systemClock(): Clock {
  return {
    nowMs: () => Date.now(),
    async sleep(ms) {
      const endMs = performance.now() + ms;
      for (let leftMs = ms; leftMs > 0; leftMs = endMs - performance.now()) {
        await setTimeout(Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS));
      }
    },
  };
}
