import type { Clock } from "../../ports/clock.ts";

/** A clock that only a test and sleeping sleepers move. */
export interface MemoryClock extends Clock {
  /** Moves time by `ms`, backwards when negative, and wakes whoever slept until then. */
  advance(ms: number): void;
}

interface Sleeper {
  readonly wakeAtMs: number;
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
    const due = sleepers.filter((sleeper) => sleeper.wakeAtMs <= now);
    sleepers = sleepers.filter((sleeper) => sleeper.wakeAtMs > now);
    for (const sleeper of due) sleeper.wake();
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
    sleep(ms) {
      const wakeAtMs = now + ms;
      return new Promise((wake) => {
        sleepers = [...sleepers, { wakeAtMs, wake }].sort((a, b) => a.wakeAtMs - b.wakeAtMs);
        setImmediate(jumpToEarliest);
      });
    },
  };
}
