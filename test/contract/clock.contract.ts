import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/ports/clock.ts";

/** What every `Clock` owes its callers. */
export function clockContract(name: string, open: () => Clock): void {
  describe(`${name} is a Clock`, () => {
    test("time is a whole number of milliseconds since 1970", () => {
      const nowMs = open().nowMs();
      expect(Number.isSafeInteger(nowMs)).toBe(true);
      expect(nowMs).toBeGreaterThan(Date.UTC(2020, 0, 1));
    });

    test("a sleep ends after at least the time it was given", async () => {
      const clock = open();
      const beforeMs = clock.nowMs();
      await clock.sleep(20);
      // One millisecond less: the wall clock is read in whole ones.
      expect(clock.nowMs() - beforeMs).toBeGreaterThanOrEqual(19);
    });

    test.each([0, -5])("a sleep of %i ms ends", async (ms) => {
      await expect(open().sleep(ms)).resolves.toBeUndefined();
    });

    test("a sleep ends as soon as its signal is aborted", async () => {
      const clock = open();
      const over = new AbortController();
      const beforeMs = clock.nowMs();
      const asleep = clock.sleep(60_000, over.signal);
      over.abort();
      await expect(asleep).resolves.toBeUndefined();
      await expect(clock.sleep(60_000, over.signal)).resolves.toBeUndefined();
      expect(clock.nowMs() - beforeMs).toBeLessThan(30_000);
    });

    test("a signal that is not aborted does not end a sleep", async () => {
      const clock = open();
      const beforeMs = clock.nowMs();
      await clock.sleep(20, new AbortController().signal);
      expect(clock.nowMs() - beforeMs).toBeGreaterThanOrEqual(19);
    });

    test("sleepers wake in the order of their ends", async () => {
      const clock = open();
      const woken: string[] = [];
      const sleeper = async (label: string, ms: number) => {
        await clock.sleep(ms);
        woken.push(label);
      };
      await Promise.all([sleeper("last", 90), sleeper("first", 5), sleeper("second", 45)]);
      expect(woken).toEqual(["first", "second", "last"]);
    });
  });
}
