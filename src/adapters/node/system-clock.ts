import { setTimeout } from "node:timers/promises";
import type { Clock } from "../../ports/clock.ts";

/** A longer timer fires at once (Node 20 documentation, setTimeout). */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

async function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await setTimeout(ms, undefined, signal && { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/** The machine's clock. Sleeping is measured by a clock that never jumps. */
export function systemClock(): Clock {
  return {
    nowMs: () => Date.now(),
    async sleep(ms, signal) {
      const endMs = performance.now() + ms;
      for (let leftMs = ms; leftMs > 0 && !signal?.aborted; leftMs = endMs - performance.now()) {
        await timer(Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS), signal);
      }
    },
  };
}
