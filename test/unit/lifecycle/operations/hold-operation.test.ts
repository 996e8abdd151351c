import { describe, expect, test } from "vitest";
import type { LeasedOperation, Operation } from "../../../../src/domain/operation.ts";
import type { DomainChange } from "../../../../src/lifecycle/operations/hold-operation.ts";
import { aSession, projectId, T0_MS } from "../../../support/builders.ts";
import {
  aLedgerWorld,
  aPrepareRequest,
  begun,
  claimed,
  type LedgerWorld,
  type Worker,
} from "./ledger-world.ts";

const ERROR = { code: "teardown_incomplete", message: "the worktree stays" };

const insertSession: DomainChange = (store) => {
  store.transaction(() => store.insert(aSession()));
};

type Work = (worker: Worker, held: LeasedOperation, change: DomainChange) => Operation;

const WORK: readonly [string, Work][] = [
  ["checkpoint", ({ ledger }, held, change) => ledger.checkpoint(held, { step: 1 }, change)],
  ["complete", ({ ledger }, held, change) => ledger.complete(held, "done", change)],
  ["fail", ({ ledger }, held, change) => ledger.fail(held, { error: ERROR, result: null }, change)],
];

describe("checkpoint", () => {
  test("records the step, renews the lease, and is nobody's news", () => {
    const { worker, row, clock, changes } = aLedgerWorld();
    const one = worker();
    const held = begun(one);
    clock.advance(20_000);
    const after = one.ledger.checkpoint(held, { worktree: "/w" });
    expect(row(held.id)).toEqual(after);
    expect(after).toMatchObject({
      progress: { worktree: "/w" },
      state: { token: held.state.token, expiresAtMs: T0_MS + 50_000, owner: { sinceMs: T0_MS } },
      attempt: 1,
    });
    expect(changes()).toEqual(["operation.prepared"]);
  });

  test("knows its holder by the claim, whatever was recorded since", () => {
    const { worker, row } = aLedgerWorld();
    const one = worker();
    const held = begun(one);
    for (const step of [1, 2, 3]) one.ledger.checkpoint(held, step);
    one.ledger.complete(held, "done");
    expect(row(held.id)).toMatchObject({ progress: 3, state: { kind: "completed", result: "done" } });
  });
});

describe("release", () => {
  test("gives it back with the reason, the progress of the row, and the backoff of its attempt", () => {
    const { worker, row, clock, changes } = aLedgerWorld();
    const one = worker();
    const held = begun(one);
    one.ledger.checkpoint(held, { marker: true });
    const after = one.ledger.release(held, { lastError: "unconfirmed" });
    expect(row(held.id)).toEqual(after);
    expect(after).toMatchObject({
      state: { kind: "prepared", nextAttemptAtMs: clock.nowMs() + 1_000 },
      progress: { marker: true },
      lastError: "unconfirmed",
    });
    expect(changes()).toEqual(["operation.prepared"]);
  });

  test("writes new progress and the schedule at once", async () => {
    const { worker, clock } = aLedgerWorld();
    const one = worker();
    const first = begun(one);
    one.ledger.release(first, { lastError: "no" });
    clock.advance(1_000);
    const second = await claimed(one, first.id);
    expect(one.ledger.release(second, { lastError: "no", progress: { marker: true } })).toMatchObject({
      state: { nextAttemptAtMs: clock.nowMs() + 2_000 },
      progress: { marker: true },
      attempt: 2,
    });
  });
});

describe("an end", () => {
  test("that is well is there with its result, what changed with it, and the change log", () => {
    const { worker, store, row, clock } = aLedgerWorld();
    const one = worker();
    const held = begun(one);
    const completed = one.ledger.complete(held, { freed: true }, insertSession);
    expect(row(held.id)).toEqual(completed);
    expect(store.sessions.list(projectId("app"))).toEqual([aSession()]);
    expect(store.changes.after(1, 10)).toEqual([
      {
        sequence: 2,
        atMs: clock.nowMs(),
        projectId: "app",
        sessionId: "app-1",
        type: "operation.completed",
        data: { operationId: held.id, kind: "kill", subject: "request-1", result: { freed: true } },
      },
    ]);
  });

  test("without success is there with its error and what is left", () => {
    const { worker, store, row } = aLedgerWorld();
    const one = worker();
    const held = begun(one);
    const failed = one.ledger.fail(held, { error: ERROR, result: { left: ["/w"] } }, insertSession);
    expect(row(held.id)).toEqual(failed);
    expect(store.sessions.list()).toEqual([aSession()]);
    expect(store.changes.after(1, 10)).toMatchObject([
      { type: "operation.failed", data: { operationId: held.id, error: ERROR, result: { left: ["/w"] } } },
    ]);
  });

  test("a reader of the change log never sees an end whose change is not there", () => {
    const { worker, store, changes } = aLedgerWorld();
    const one = worker();
    one.ledger.complete(begun(one), null, () => {
      expect(changes()).toEqual(["operation.prepared"]);
    });
    expect(store.changes.last()).toBe(2);
  });
});

describe("what changes together with an operation", () => {
  function expectUnchanged({ row, store, changes }: LedgerWorld, held: LeasedOperation): void {
    expect(row(held.id)).toEqual(held);
    expect(store.sessions.list()).toEqual([]);
    expect(changes()).toEqual(["operation.prepared"]);
  }

  test.each(WORK)("%s: is undone with it when it fails itself", (_name, work) => {
    const world = aLedgerWorld();
    const one = world.worker();
    const held = begun(one);
    const problem = new Error("no");
    const change: DomainChange = (store) => {
      insertSession(store);
      throw problem;
    };
    expect(() => work(one, held, change)).toThrow(problem);
    expectUnchanged(world, held);
    expect(work(one, held, insertSession).version).toBe(held.version + 1);
  });

  test.each(WORK)("%s: is undone when the operation cannot be saved", (_name, work) => {
    const world = aLedgerWorld();
    const held = begun(world.worker());
    const save = () => false;
    const failing = world.worker("ao", { operations: { ...world.store.operations, save } });
    expect(() => work(failing, held, insertSession)).toThrow(expect.objectContaining({ code: "store_busy" }));
    expectUnchanged(world, held);
  });

  test.each(WORK.slice(1))("%s: is undone when the change log cannot be written", (_name, work) => {
    const world = aLedgerWorld();
    const held = begun(world.worker());
    const problem = new Error("disk full");
    const append = () => {
      throw problem;
    };
    const failing = world.worker("ao", { changes: { ...world.store.changes, append } });
    expect(() => work(failing, held, insertSession)).toThrow(problem);
    expectUnchanged(world, held);
  });
});

describe("work under a lost lease", () => {
  const ALL_WORK: readonly [string, Work][] = [
    ...WORK,
    ["release", ({ ledger }, held) => ledger.release(held, { lastError: "no" })],
  ];

  test.each(ALL_WORK)("%s: changes nothing and says who holds it now", async (_name, work) => {
    const { worker, row, store, clock, changes } = aLedgerWorld();
    const [one, other] = [worker(), worker("ao reconcile")];
    const first = begun(one);
    clock.advance(30_000);
    const second = await claimed(other, first.id);
    const attempt = () => work(one, first, insertSession);
    expect(attempt).toThrow(
      expect.objectContaining({
        code: "operation_in_progress",
        message: `the kill of session app-1 is under way: process ${other.process.pid} (ao reconcile) since 2026-01-02T03:04:35.678Z`,
        details: {
          operationId: first.id,
          kind: "kill",
          sessionId: "app-1",
          state: "leased",
          holder: { pid: other.process.pid, command: "ao reconcile", since: "2026-01-02T03:04:35.678Z" },
        },
      }),
    );
    expect(row(first.id)).toEqual(second);
    expect(store.sessions.list()).toEqual([]);
    expect(changes()).toEqual(["operation.prepared"]);
  });

  test.each(ALL_WORK)("%s: nor when the other one finished it meanwhile", async (_name, work) => {
    const { worker, row, store, clock } = aLedgerWorld();
    const [one, other] = [worker(), worker("ao reconcile")];
    const first = begun(one);
    clock.advance(30_000);
    const completed = other.ledger.complete(await claimed(other, first.id), "by another");
    const lost = expect.objectContaining({
      code: "operation_in_progress",
      message: "the kill of session app-1 was finished by another process",
      hint: "ao show app-1",
    });
    expect(() => work(one, first, insertSession)).toThrow(lost);
    expect(row(first.id)).toEqual(completed);
    expect(store.sessions.list()).toEqual([]);
  });

  test("nor after it was released, by whichever claim of the same process", async () => {
    const { worker, row, clock } = aLedgerWorld();
    const one = worker();
    const first = begun(one, aPrepareRequest({ sessionId: null }));
    const released = one.ledger.release(first, { lastError: "no" });
    expect(() => one.ledger.complete(first, null)).toThrow(
      expect.objectContaining({
        message: `kill ${first.id} is to be tried again from 2026-01-02T03:04:06.678Z; last time: no`,
        hint: "from then on: the same command again, or ao reconcile",
      }),
    );
    expect(row(first.id)).toEqual(released);
    clock.advance(1_000);
    await claimed(one, first.id);
    expect(() => one.ledger.complete(first, null)).toThrow(
      expect.objectContaining({ code: "operation_in_progress" }),
    );
  });

  test("a lease that ran out is not lost while nobody took it", () => {
    const { worker, clock } = aLedgerWorld();
    const one = worker();
    const held = begun(one);
    clock.advance(3_600_000);
    expect(one.ledger.complete(held, "late").state).toMatchObject({ kind: "completed", result: "late" });
  });
});
