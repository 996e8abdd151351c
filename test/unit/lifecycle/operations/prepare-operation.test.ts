import { describe, expect, test } from "vitest";
import { memoryIds } from "../../../../src/adapters/memory/ids.ts";
import type { Operation } from "../../../../src/domain/operation.ts";
import { findOperation } from "../../../../src/lifecycle/operations/prepare-operation.ts";
import { projectId, sessionId, T0_MS } from "../../../support/builders.ts";
import { aLedgerWorld, aPrepareRequest, begun, prepared } from "./ledger-world.ts";

const ERROR = { code: "git_failed", message: "no" };

describe("prepare", () => {
  test("writes the intent, due now and held by nobody, and says so in the change log", () => {
    const { worker, row, store } = aLedgerWorld();
    const operation = prepared(worker(), aPrepareRequest({ progress: { before: 1 } }));
    expect(row(operation.id)).toEqual(operation);
    expect(operation).toMatchObject({
      kind: "kill",
      sessionId: "app-1",
      input: { reason: "manual" },
      progress: { before: 1 },
      state: { kind: "prepared", nextAttemptAtMs: T0_MS },
      attempt: 0,
      version: 1,
    });
    expect(store.changes.after(0, 10)).toEqual([
      {
        sequence: 1,
        atMs: T0_MS,
        projectId: "app",
        sessionId: "app-1",
        type: "operation.prepared",
        data: { operationId: operation.id, kind: "kill", subject: "request-1" },
      },
    ]);
  });

  test("names the operation by project, session, kind and subject", () => {
    const { worker } = aLedgerWorld();
    const { id } = prepared(worker());
    expect(id).toBe(memoryIds().operationId(["app", "app-1", "kill", "request-1"]));
  });

  test("names one that makes its session without the session", () => {
    const { worker } = aLedgerWorld();
    const { id } = prepared(worker(), aPrepareRequest({ kind: "spawn", makesSession: true }));
    expect(id).toBe(memoryIds().operationId(["app", "", "spawn", "request-1"]));
  });

  test("writes nothing when the change log cannot be written", () => {
    const { worker, store } = aLedgerWorld();
    const problem = new Error("disk full");
    const append = () => {
      throw problem;
    };
    const { ledger } = worker("ao", { changes: { ...store.changes, append } });
    expect(() => ledger.prepare(aPrepareRequest())).toThrow(problem);
    expect(() => ledger.begin(aPrepareRequest())).toThrow(problem);
    expect(store.operations.unfinished().operations).toEqual([]);
  });
});

describe("begin", () => {
  test("holds what it wrote at once", () => {
    const { worker, row, changes, clock } = aLedgerWorld();
    const { ledger, process } = worker("ao kill app-1");
    const outcome = ledger.begin(aPrepareRequest());
    expect(outcome.kind).toBe("begun");
    expect(row(outcome.operation.id)).toEqual(outcome.operation);
    expect(outcome.operation).toMatchObject({
      state: {
        kind: "leased",
        owner: { process, command: "ao kill app-1", sinceMs: clock.nowMs() },
        expiresAtMs: clock.nowMs() + 30_000,
      },
      attempt: 1,
    });
    expect(changes()).toEqual(["operation.prepared"]);
  });
});

describe("a repeat", () => {
  test.each(["prepare", "begin"] as const)("of %s finds the first, whoever holds it", (call) => {
    const { worker, row, changes } = aLedgerWorld();
    const first = begun(worker());
    expect(worker().ledger[call](aPrepareRequest())).toEqual({ kind: "found", operation: first });
    expect(row(first.id)).toEqual(first);
    expect(changes()).toEqual(["operation.prepared"]);
  });

  test("finds the result of one that is completed, also with the members of its input reordered", () => {
    const { worker } = aLedgerWorld();
    const one = worker();
    const input = { reason: "manual", also: { a: 1, b: [1, 2] } };
    const completed = one.ledger.complete(begun(one, aPrepareRequest({ input })), { freed: true });
    const reordered = { also: { b: [1, 2], a: 1 }, reason: "manual" };
    expect(worker().ledger.begin(aPrepareRequest({ input: reordered }))).toEqual({
      kind: "found",
      operation: completed,
    });
  });

  test("with another input is a conflict and changes nothing", () => {
    const { worker, row, changes } = aLedgerWorld();
    const first = begun(worker());
    const other = aPrepareRequest({ input: { reason: "cleanup" } });
    expect(worker().ledger.begin(other)).toEqual({ kind: "conflict", operation: first });
    expect(row(first.id)).toEqual(first);
    expect(changes()).toEqual(["operation.prepared"]);
  });

  test("of a spawn finds the session of the first, not a new one", () => {
    const { worker } = aLedgerWorld();
    const spawn = { kind: "spawn", makesSession: true } as const;
    const first = begun(worker(), aPrepareRequest({ ...spawn, sessionId: "app-1" }));
    const repeat = worker().ledger.begin(aPrepareRequest({ ...spawn, sessionId: "app-2" }));
    expect(repeat).toEqual({ kind: "found", operation: first });
  });

  test("finds it too while another operation of the session is under way", () => {
    const { worker } = aLedgerWorld();
    const one = worker();
    const completed = one.ledger.complete(begun(one), null);
    begun(one, aPrepareRequest({ kind: "restore" }));
    expect(worker().ledger.begin(aPrepareRequest())).toEqual({ kind: "found", operation: completed });
  });
});

describe("what failed", () => {
  test("runs anew as another generation, and the failed row stays", () => {
    const { worker, row } = aLedgerWorld();
    const one = worker();
    const failed = one.ledger.fail(begun(one), { error: ERROR, result: null });
    const second = begun(one);
    expect(second.id).not.toBe(failed.id);
    expect(second).toMatchObject({ attempt: 1, subject: "request-1" });
    expect(row(failed.id)).toEqual(failed);
  });

  test("is found by its newest generation, from then on by the result of that", () => {
    const { worker } = aLedgerWorld();
    const one = worker();
    for (let times = 0; times < 3; times++) one.ledger.fail(begun(one), { error: ERROR, result: null });
    const completed: Operation = one.ledger.complete(begun(one), "at last");
    expect(findOperation(one.deps, aPrepareRequest())).toEqual(completed);
    expect(worker().ledger.begin(aPrepareRequest())).toEqual({ kind: "found", operation: completed });
  });

  test("cannot be asked for anew with another input", () => {
    const { worker } = aLedgerWorld();
    const one = worker();
    const failed = one.ledger.fail(begun(one), { error: ERROR, result: null });
    expect(one.ledger.begin(aPrepareRequest({ input: 2 }))).toEqual({ kind: "conflict", operation: failed });
  });
});

describe("find", () => {
  test("finds nothing of what was never asked for", () => {
    const { worker } = aLedgerWorld();
    const one = worker();
    begun(one);
    for (const other of [
      aPrepareRequest({ subject: "request-2" }),
      aPrepareRequest({ kind: "restore" }),
      aPrepareRequest({ projectId: projectId("web") }),
      aPrepareRequest({ makesSession: true }),
    ]) {
      expect(findOperation(one.deps, other)).toBeUndefined();
    }
  });
});

describe("exclusion", () => {
  test.each([
    ["prepared", false],
    ["leased", true],
  ])("an operation that is %s makes its session busy for others", (_state, isHeld) => {
    const { worker, store } = aLedgerWorld();
    const first = isHeld ? begun(worker()) : prepared(worker());
    for (const kind of ["kill", "restore", "cleanup", "spawn"] as const) {
      const request = aPrepareRequest({ kind, subject: "request-2" });
      expect(worker().ledger.begin(request)).toEqual({ kind: "busy", operation: first });
    }
    expect(store.operations.unfinished().operations).toEqual([first]);
  });

  test("ends with the operation", () => {
    const { worker } = aLedgerWorld();
    const one = worker();
    one.ledger.complete(begun(one), null);
    one.ledger.fail(begun(one, aPrepareRequest({ kind: "restore" })), { error: ERROR, result: null });
    expect(worker().ledger.begin(aPrepareRequest({ kind: "cleanup" })).kind).toBe("begun");
  });

  test("is of one session: others, and operations of none, go on", () => {
    const { worker } = aLedgerWorld();
    const one = worker();
    begun(one);
    expect(one.ledger.begin(aPrepareRequest({ sessionId: "app-2" })).kind).toBe("begun");
    expect(one.ledger.begin(aPrepareRequest({ sessionId: null, subject: "a" })).kind).toBe("begun");
    expect(one.ledger.begin(aPrepareRequest({ sessionId: null, subject: "b" })).kind).toBe("begun");
  });

  test("a row that cannot be read makes its own session unusable and no other", () => {
    const { worker, store } = aLedgerWorld();
    const unreadable = [{ id: "x", sessionId: "app-1", flaw: "state.owner" }];
    const unfinished = () => ({ ...store.operations.unfinished(), unreadable });
    const { ledger } = worker("ao", { operations: { ...store.operations, unfinished } });
    expect(() => ledger.begin(aPrepareRequest())).toThrow(
      expect.objectContaining({ code: "store_corrupt", message: expect.stringContaining("state.owner") }),
    );
    expect(ledger.begin(aPrepareRequest({ sessionId: "app-2" })).kind).toBe("begun");
    expect(store.operations.ofSession(sessionId("app-1"), 1).operations).toEqual([]);
  });
});
