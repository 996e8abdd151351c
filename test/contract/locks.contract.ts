import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { OperationOwner } from "../../src/domain/operation.ts";
import type { Locks } from "../../src/ports/locks.ts";

/** Locks, and somebody else who holds one. */
export interface LocksWorld {
  readonly locks: Locks;
  /** Lets another process hold a lock. */
  holdElsewhere(name: string): Promise<{ readonly owner: OperationOwner; release(): Promise<void> }>;
}

const SOON = { waitMs: 10_000 };
const NOT_AT_ALL = { waitMs: 0 };

/** What every `Locks` owes its callers. */
export function locksContract(name: string, open: () => Promise<LocksWorld>): void {
  describe(`${name} are Locks`, () => {
    test("what the work returns is returned, and what it throws is thrown", async () => {
      const { locks } = await open();
      expect(await locks.withLock("a", async () => 7, NOT_AT_ALL)).toBe(7);
      const boom = new Error("boom");
      await expect(locks.withLock("a", () => Promise.reject(boom), NOT_AT_ALL)).rejects.toBe(boom);
      expect(await locks.withLock("a", async () => 8, NOT_AT_ALL)).toBe(8);
    });

    test("twenty at once come one after the other", async () => {
      const { locks } = await open();
      let inside = 0;
      let most = 0;
      let done = 0;
      const work = async () => {
        inside += 1;
        most = Math.max(most, inside);
        await sleep(1);
        inside -= 1;
        done += 1;
      };
      await Promise.all(Array.from({ length: 20 }, () => locks.withLock("a", work, SOON)));
      expect([most, done]).toEqual([1, 20]);
    });

    test("locks of other names are free, whatever the names hold", async () => {
      const { locks } = await open();
      const names = ["a", "A", "", "../a", "/", "a\0b", "a".repeat(10_000), "ä"];
      const nest = async ([first, ...rest]: readonly string[]): Promise<number> =>
        first === undefined ? 0 : 1 + (await locks.withLock(first, () => nest(rest), NOT_AT_ALL));
      expect(await nest(names)).toBe(names.length);
    });

    test("one is not given twice, not even to who has it", async () => {
      const { locks } = await open();
      const again = () => locks.withLock("a", async () => 1, NOT_AT_ALL);
      await expect(locks.withLock("a", again, NOT_AT_ALL)).rejects.toMatchObject({
        code: "operation_in_progress",
      });
    });

    test("who waits in vain is told who holds it, and the work was not begun", async () => {
      const { locks, holdElsewhere } = await open();
      const { owner } = await holdElsewhere("a");
      let begun = false;
      const work = async () => {
        begun = true;
      };
      await expect(locks.withLock("a", work, { waitMs: 50 })).rejects.toMatchObject({
        code: "operation_in_progress",
        message: expect.stringContaining(owner.command),
        details: { holder: owner },
      });
      expect(begun).toBe(false);
    });

    test("who waits gets it as soon as the other lets go", async () => {
      const { locks, holdElsewhere } = await open();
      const other = await holdElsewhere("a");
      const waiting = locks.withLock("a", async () => "mine", SOON);
      await other.release();
      expect(await waiting).toBe("mine");
    });
  });
}
