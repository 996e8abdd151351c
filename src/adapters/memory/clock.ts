import type { Clock } from "../../ports/clock.ts";

/** A clock that only a test and sleeping sleepers move. */
export interface MemoryClock extends Clock {
  /** Moves time by `ms`, backwards when negative, and wakes whoever slept until then. */
  advance(ms: number): void;
}

interface Sleeper {
  readonly wakeAtMs: number;
  /** Takes it off the list, too. */
  readonly wake: () => void;
}

/**
 * Virtual time that begins at `startMs` (Unix milliseconds).
 *
 * A sleep takes no real time: as soon as nothing else is ready to run, time jumps to the earliest
 * sleeper's end, one sleeper at a time, so that sleepers wake in the order of real time.
 */
export function memoryClock(startMs = 1_700_000_000_000): MemoryClock {
  let now = startMs;
  let sleepers: readonly Sleeper[] = [];

  function wakeDue(): void {
    for (const sleeper of sleepers.filter(({ wakeAtMs }) => wakeAtMs <= now)) sleeper.wake();
  }

  function jumpToEarliest(): void {
    const earliest = Math.min(...sleepers.map((sleeper) => sleeper.wakeAtMs));
    if (Number.isFinite(earliest)) now = Math.max(now, earliest);
    wakeDue();
  }

  return {
    nowMs: () => now,
    advance(ms) {
      now += ms;
      wakeDue();
    },
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve();
      const wakeAtMs = now + ms;
      return new Promise((wake) => {
        const end = () => {
          signal?.removeEventListener("abort", end);
          sleepers = sleepers.filter((sleeper) => sleeper.wake !== end);
          wake();
        };
        signal?.addEventListener("abort", end);
        sleepers = [...sleepers, { wakeAtMs, wake: end }].sort((a, b) => a.wakeAtMs - b.wakeAtMs);
        setImmediate(jumpToEarliest);
      });
    },
  };
}
