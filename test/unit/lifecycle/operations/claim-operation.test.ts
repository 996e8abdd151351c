import { describe, expect, test } from "vitest";
import { operationId } from "../../../support/operations.ts";
import { aLedgerWorld, begun, prepared } from "./ledger-world.ts";

describe("claim", () => {
  test("of two workers exactly one takes it, and the other learns who and since when", async () => {
    const { worker, row, clock } = aLedgerWorld();
    const [one, other] = [worker("ao kill app-1"), worker("ao reconcile")];
    const { id } = prepared(one);
    const sinceMs = clock.nowMs();
    const decisions = await Promise.all([one.ledger.claim(id), other.ledger.claim(id)]);
    expect(decisions.map(({ kind }) => kind).sort()).toEqual(["claimed", "held"]);
    for (const { operation } of decisions) {
      expect(operation).toEqual(row(id));
      expect(operation.state).toMatchObject({ kind: "leased", owner: { sinceMs } });
    }
    expect(row(id)?.attempt).toBe(1);
  });

  test("takes over at once from a holder that is dead", async () => {
    const { worker } = aLedgerWorld();
    const [one, other] = [worker(), worker("ao reconcile")];
    const first = begun(one);
    expect((await other.ledger.claim(first.id)).kind).toBe("held");
    one.die();
    const { kind, operation } = await other.ledger.claim(first.id);
    expect(kind).toBe("claimed");
    expect(operation).toMatchObject({ state: { owner: { process: other.process } }, attempt: 2 });
  });

  test("takes over at once after a reboot, whoever has the pid by then", async () => {
    const { worker, processes } = aLedgerWorld();
    const first = begun(worker());
    processes.reboot();
    processes.add({ pid: first.state.owner.process.pid });
    expect((await worker().ledger.claim(first.id)).kind).toBe("claimed");
  });

  test("takes over when the pid of the holder belongs to another process", async () => {
    const { worker, processes } = aLedgerWorld();
    const first = begun(worker());
    processes.add({ pid: first.state.owner.process.pid });
    expect((await worker().ledger.claim(first.id)).kind).toBe("claimed");
  });

  test("a look that fails, or cannot tell, is no death: the lease has to run out", async () => {
    const { worker, processes, clock } = aLedgerWorld();
    const [one, other] = [worker(), worker()];
    const first = begun(one);
    processes.failWith("EAGAIN");
    expect((await other.ledger.claim(first.id)).kind).toBe("held");
    processes.failWith(null);
    processes.change(one.process.pid, { unreadable: true });
    clock.advance(29_999);
    expect((await other.ledger.claim(first.id)).kind).toBe("held");
    clock.advance(1);
    expect((await other.ledger.claim(first.id)).kind).toBe("claimed");
  });

  test.each([
    ["a living holder is left alone", {}, "held"],
    ["a holder that nobody can see is taken over", { unreadable: true }, "claimed"],
  ])("after the clock was set back by an hour %s", async (_what, change, kind) => {
    const { worker, processes, clock } = aLedgerWorld();
    const one = worker();
    const first = begun(one);
    clock.advance(-3_600_000);
    processes.change(one.process.pid, change);
    expect((await worker().ledger.claim(first.id)).kind).toBe(kind);
  });

  test("after the clock was set back by an hour what was released is due", async () => {
    const { worker, clock } = aLedgerWorld();
    const one = worker();
    const first = begun(one);
    one.ledger.release(first, { lastError: "tmux: EAGAIN" });
    clock.advance(-3_600_000);
    expect((await one.ledger.claim(first.id)).kind).toBe("claimed");
  });

  test.each([
    ["", 0],
    [", nor does a clock that was set back meanwhile", -3_600_000],
  ])("the death of a holder says nothing of who took it over during the look%s", async (_what, jumpMs) => {
    const { worker, processes, clock } = aLedgerWorld();
    const [one, second] = [worker(), worker()];
    const first = begun(one);
    one.die();
    const look: typeof processes.look = async (identities) => {
      const facts = await processes.look(identities);
      await second.ledger.claim(first.id);
      clock.advance(jumpMs);
      return facts;
    };
    const slow = worker("ao reconcile", { processes: { look } });
    const { kind, operation } = await slow.ledger.claim(first.id);
    expect(kind).toBe("held");
    expect(operation.state).toMatchObject({ owner: { process: second.process } });
  });

  test("what was released waits for its backoff, unless a person asks for it now", async () => {
    const { worker, clock } = aLedgerWorld();
    const one = worker();
    const first = begun(one);
    one.ledger.release(first, { lastError: "tmux: EAGAIN" });
    expect((await one.ledger.claim(first.id)).kind).toBe("not_due");
    clock.advance(999);
    expect((await one.ledger.claim(first.id)).kind).toBe("not_due");
    expect((await one.ledger.claim(first.id, { evenIfNotDue: true })).kind).toBe("claimed");
  });

  test("what is finished is told, not taken", async () => {
    const { worker } = aLedgerWorld();
    const one = worker();
    const first = begun(one);
    const completed = one.ledger.complete(first, { freed: true });
    one.die();
    expect(await worker().ledger.claim(first.id, { evenIfNotDue: true })).toEqual({
      kind: "finished",
      operation: completed,
    });
  });

  test("of an unknown operation is refused", async () => {
    const { worker } = aLedgerWorld();
    await expect(worker().ledger.claim(operationId())).rejects.toMatchObject({ code: "internal" });
  });

  test("that another write overtook is store_busy, with a store that does not exclude", async () => {
    const { worker, store } = aLedgerWorld();
    const { id } = prepared(worker());
    const { ledger } = worker("ao", { operations: { ...store.operations, save: () => false } });
    await expect(ledger.claim(id)).rejects.toMatchObject({ code: "store_busy" });
  });
});
