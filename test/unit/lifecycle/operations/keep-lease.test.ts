import { describe, expect, test } from "vitest";
import { aLedgerWorld, begun, claimed } from "./ledger-world.ts";

describe("keepLease", () => {
  test("holds the operation through work that takes far longer than a lease", async () => {
    const { worker, clock } = aLedgerWorld();
    const [one, other] = [worker(), worker("ao reconcile")];
    const held = begun(one);
    const kinds: string[] = [];
    const result = await one.ledger.keepLease(held, async () => {
      for (let times = 0; times < 10; times++) {
        await clock.sleep(25_000);
        kinds.push((await other.ledger.claim(held.id)).kind);
      }
      return "worked";
    });
    expect(result).toBe("worked");
    expect(kinds).toEqual(Array.from({ length: 10 }, () => "held"));
  });

  test("leaves progress to the work, and stops with it", async () => {
    const { worker, clock, row } = aLedgerWorld();
    const one = worker();
    const held = begun(one);
    await one.ledger.keepLease(held, async () => {
      one.ledger.checkpoint(held, { step: 1 });
      await clock.sleep(45_000);
    });
    const after = row(held.id);
    expect(after).toMatchObject({ progress: { step: 1 }, attempt: 1 });
    await clock.sleep(60_000);
    expect(row(held.id)).toEqual(after);
  });

  test("a failure of the work is passed on", async () => {
    const { worker } = aLedgerWorld();
    const one = worker();
    const problem = new Error("no");
    const work = one.ledger.keepLease(begun(one), () => Promise.reject(problem));
    await expect(work).rejects.toBe(problem);
  });

  test("renewals that fail are tried again and do not disturb the work", async () => {
    const { worker, clock, store } = aLedgerWorld();
    let failures = 2;
    const save: typeof store.operations.save = (operation, readVersion) =>
      failures-- <= 0 && store.operations.save(operation, readVersion);
    const held = begun(worker());
    const one = worker("ao", { operations: { ...store.operations, save } });
    await one.ledger.keepLease(held, () => clock.sleep(55_000));
    expect((await worker().ledger.claim(held.id)).kind).toBe("held");
  });

  test("a lease that was lost is not renewed, and the next step of the work says so", async () => {
    const { worker, clock, row } = aLedgerWorld();
    const [one, other] = [worker(), worker()];
    const held = begun(one);
    clock.advance(30_000);
    const second = await claimed(other, held.id);
    const work = one.ledger.keepLease(held, async () => {
      await clock.sleep(45_000);
      one.ledger.complete(held, null);
    });
    await expect(work).rejects.toMatchObject({ code: "operation_in_progress" });
    expect(row(held.id)).toEqual(second);
  });
});
