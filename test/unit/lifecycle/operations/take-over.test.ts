import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import type { LeasedOperation } from "../../../../src/domain/operation.ts";
import { aLedgerWorld, aPrepareRequest, begun, prepared, type Worker } from "./ledger-world.ts";

const of = (number: number) => aPrepareRequest({ sessionId: `app-${number}` });

/** Finishes what it is given and remembers of which sessions it was. */
function finisher({ ledger }: Worker) {
  const sessions: (string | null)[] = [];
  return {
    sessions,
    async carryOn(held: LeasedOperation) {
      sessions.push(held.sessionId);
      ledger.complete(held, "carried on");
    },
  };
}

describe("takeOver", () => {
  test("carries on what dead holders left and what is due, oldest first", async () => {
    const { worker, clock, store } = aLedgerWorld();
    const [dead, alive, one] = [worker(), worker(), worker("ao reconcile")];
    begun(dead, of(3));
    clock.advance(1);
    prepared(alive, of(2));
    begun(alive, of(9));
    clock.advance(1);
    begun(dead, of(1));
    dead.die();
    const { sessions, carryOn } = finisher(one);
    const report = await one.ledger.takeOver(carryOn);
    expect(sessions).toEqual(["app-3", "app-2", "app-1"]);
    expect(report.errors).toEqual([]);
    expect(report.taken.map(({ sessionId, state }) => [sessionId, state.kind])).toEqual([
      ["app-3", "completed"],
      ["app-2", "completed"],
      ["app-1", "completed"],
    ]);
    expect(store.operations.unfinished().operations.map(({ sessionId }) => sessionId)).toEqual(["app-9"]);
  });

  test("a second time finds nothing to do", async () => {
    const { worker, changes } = aLedgerWorld();
    const [dead, one] = [worker(), worker()];
    begun(dead);
    dead.die();
    await one.ledger.takeOver(finisher(one).carryOn);
    const before = changes();
    expect(await one.ledger.takeOver(finisher(one).carryOn)).toEqual({ taken: [], errors: [] });
    expect(changes()).toEqual(before);
  });

  test("reports one of which it cannot tell whether it is chosen, and carries on all others", async () => {
    const { worker, clock } = aLedgerWorld();
    const [dead, one] = [worker(), worker()];
    begun(dead, of(1));
    clock.advance(1);
    begun(dead, of(2));
    dead.die();
    const { sessions, carryOn } = finisher(one);
    const chosen = ({ sessionId }: { readonly sessionId: string | null }) => {
      if (sessionId === "app-1") throw new AoError("store_corrupt", "its session cannot be read");
      return true;
    };
    const { errors } = await one.ledger.takeOver(carryOn, { chosen });
    expect(errors).toMatchObject([{ sessionId: "app-1", code: "store_corrupt" }]);
    expect(sessions).toEqual(["app-2"]);
  });

  test("looks at all holders once, and not at all when there are none", async () => {
    const { worker, processes } = aLedgerWorld();
    const looks: number[] = [];
    const look: typeof processes.look = (identities) => {
      looks.push(identities.length);
      return processes.look(identities);
    };
    const one = worker("ao reconcile", { processes: { look } });
    await one.ledger.takeOver(finisher(one).carryOn);
    const dead = worker();
    for (const number of [1, 2, 3]) begun(dead, of(number));
    dead.die();
    await one.ledger.takeOver(finisher(one).carryOn);
    expect(looks).toEqual([3]);
  });

  test("one that cannot be carried on is reported, waits for its backoff, and stops no other", async () => {
    const { worker, clock, row } = aLedgerWorld();
    const [dead, one] = [worker(), worker()];
    const [first, poison, third] = [1, 2, 3].map((number) => {
      clock.advance(1);
      return begun(dead, of(number));
    });
    dead.die();
    const report = await one.ledger.takeOver(async (held) => {
      if (held.id === poison?.id) throw new AoError("runtime_unavailable", "tmux is missing");
      one.ledger.complete(held, null);
    });
    expect(report.errors).toEqual([
      {
        operationId: poison?.id,
        sessionId: "app-2",
        kind: "kill",
        code: "runtime_unavailable",
        message: "tmux is missing",
      },
    ]);
    expect(report.taken.map(({ id, state }) => [id, state.kind])).toEqual([
      [first?.id, "completed"],
      [poison?.id, "prepared"],
      [third?.id, "completed"],
    ]);
    expect(poison && row(poison.id)).toMatchObject({
      state: { kind: "prepared", nextAttemptAtMs: clock.nowMs() + 2_000 },
      lastError: "tmux is missing",
      attempt: 2,
    });
  });

  test("one that cannot even be released is reported with what kept it from being carried on", async () => {
    const { worker, store } = aLedgerWorld();
    const dead = worker();
    begun(dead);
    dead.die();
    let isFull = false;
    const save: typeof store.operations.save = (...args) => {
      if (isFull) throw new AoError("data_dir_unusable", "the disk is full");
      return store.operations.save(...args);
    };
    const one = worker("ao reconcile", { operations: { ...store.operations, save } });
    const { errors } = await one.ledger.takeOver(async () => {
      isFull = true;
      throw new AoError("git_failed", "bad object");
    });
    expect(errors).toMatchObject([{ code: "git_failed", message: "bad object" }]);
  });

  test("one that its work ended before it failed is reported with that failure", async () => {
    const { worker, row } = aLedgerWorld();
    const [dead, one] = [worker(), worker()];
    const { id } = begun(dead);
    dead.die();
    const { errors } = await one.ledger.takeOver(async (held) => {
      one.ledger.complete(held, null);
      throw new AoError("store_busy", "the store is locked");
    });
    expect(errors).toMatchObject([{ operationId: id, code: "store_busy" }]);
    expect(row(id)?.state.kind).toBe("completed");
  });

  test("a row that cannot be read is reported and stops no other", async () => {
    const { worker, store } = aLedgerWorld();
    const dead = worker();
    begun(dead);
    dead.die();
    const unreadable = [{ id: "damaged", sessionId: "app-7", flaw: "progress" }];
    const unfinished = () => ({ ...store.operations.unfinished(), unreadable });
    const one = worker("ao reconcile", { operations: { ...store.operations, unfinished } });
    const { carryOn, sessions } = finisher(one);
    expect((await one.ledger.takeOver(carryOn)).errors).toEqual([
      {
        operationId: "damaged",
        sessionId: "app-7",
        kind: null,
        code: "store_corrupt",
        message: "its row cannot be read (progress)",
      },
    ]);
    expect(sessions).toEqual(["app-1"]);
  });

  test("a claim that the store refuses is reported and stops no other", async () => {
    const { worker, store } = aLedgerWorld();
    const dead = worker();
    const poison = begun(dead, of(1));
    begun(dead, of(2));
    dead.die();
    const save: typeof store.operations.save = (operation, readVersion) =>
      operation.id !== poison.id && store.operations.save(operation, readVersion);
    const one = worker("ao reconcile", { operations: { ...store.operations, save } });
    const { carryOn, sessions } = finisher(one);
    const { errors, taken } = await one.ledger.takeOver(carryOn);
    expect(errors).toMatchObject([{ operationId: poison.id, sessionId: "app-1" }]);
    expect(sessions).toEqual(["app-2"]);
    expect(taken).toHaveLength(1);
  });

  test("of two at once each operation is carried on by one of them", async () => {
    const { worker, store } = aLedgerWorld();
    const dead = worker();
    for (let number = 1; number <= 20; number++) begun(dead, of(number));
    dead.die();
    const workers = [worker(), worker()];
    const finishers = workers.map((one) => ({ ledger: one.ledger, ...finisher(one) }));
    const reports = await Promise.all(finishers.map(({ ledger, carryOn }) => ledger.takeOver(carryOn)));
    expect(finishers.flatMap(({ sessions }) => sessions).sort()).toEqual(
      Array.from({ length: 20 }, (_, index) => `app-${index + 1}`).sort(),
    );
    expect(reports.flatMap(({ errors }) => errors)).toEqual([]);
    expect(reports.flatMap(({ taken }) => taken)).toHaveLength(20);
    expect(store.operations.unfinished().operations).toEqual([]);
  });

  test("what another one took during the work is left to it, and is no error", async () => {
    const { worker, row } = aLedgerWorld();
    const [dead, one, other] = [worker(), worker(), worker()];
    const first = begun(dead);
    dead.die();
    const report = await one.ledger.takeOver(async (held) => {
      one.die();
      await other.ledger.claim(held.id);
      throw new Error("what stands there is not mine");
    });
    expect(report.errors).toEqual([]);
    expect(report.taken).toEqual([row(first.id)]);
    expect(row(first.id)?.state).toMatchObject({ owner: { process: other.process } });
  });
});
