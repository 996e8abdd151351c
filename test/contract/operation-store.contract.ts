import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonValue } from "../../src/domain/canonical-json.ts";
import type { Operation } from "../../src/domain/operation.ts";
import type { OperationRows, OperationStore } from "../../src/ports/operation-store.ts";
import type { Store } from "../../src/ports/store.ts";
import { aProcess, aSession, projectId, sessionId, T0_MS } from "../support/builders.ts";
import {
  aLease,
  aLeasedOperation,
  anOperation,
  anOperationIn,
  anOwner,
  operationId,
} from "../support/operations.ts";

type Fresh = () => Store;

const completed = anOperationIn(
  { kind: "completed", result: { freed: true }, completedAtMs: T0_MS + 5 },
  { attempt: 1, version: 3 },
);
const failed = anOperationIn(
  { kind: "failed", error: { code: "git_failed", message: "no" }, result: null },
  { attempt: 2, version: 5 },
);

const ids = ({ operations }: OperationRows) => operations.map(({ id }) => id);

function rowTests(fresh: Fresh): void {
  test("those of a kind in a project are told, the newest first", () => {
    const { operations } = fresh();
    const at = (number: number, patch: Partial<Operation>) =>
      operations.insert(anOperation({ ...patch, id: number, createdAtMs: T0_MS + number }));
    for (const number of [1, 2, 3]) at(number, { kind: "fill_pool" });
    at(4, { kind: "kill" });
    at(5, { kind: "fill_pool", projectId: projectId("other") });
    const { projectId: own } = anOperation();
    expect(ids(operations.ofKind("fill_pool", own, 2))).toEqual([operationId(3), operationId(2)]);
  });

  test("an unknown operation is undefined", () => {
    expect(fresh().operations.get(operationId())).toBeUndefined();
  });

  test.each<[string, Operation]>([
    ["a prepared one", anOperation()],
    ["a leased one", aLeasedOperation()],
    ["a completed one", completed],
    ["a failed one", failed],
    ["one with a reason to be tried again", anOperation({ attempt: 3, lastError: "tmux: EAGAIN" })],
    ["one of no session", anOperation({ sessionId: null, kind: "cleanup" })],
    [
      "hostile text",
      anOperationIn(aLease({ token: "'", owner: anOwner({ command: "ao kill '\u0000\u001b[31m🦉" }) }), {
        subject: "'; DROP TABLE operations; --",
        input: { "\ud800": "#(x) $(x) \u0000", prompt: "\n" },
        progress: ["", JSON.parse('{"__proto__":1,"constructor":2}')],
        attempt: 1,
      }),
    ],
    ["results that are nothing", anOperationIn({ kind: "completed", result: null, completedAtMs: T0_MS })],
  ])("%s is read as it was written", (_what, operation) => {
    const { operations } = fresh();
    expect(operations.insert(operation)).toBe(true);
    expect(operations.get(operation.id)).toEqual(operation);
    expect(operations.ofSession(sessionId("app-1"), 10)).toEqual({
      operations: operation.sessionId === null ? [] : [operation],
      unreadable: [],
    });
  });

  test("any input, progress and result are read as they were written", () => {
    const { operations } = fresh();
    const anyJson = fc.jsonValue() as fc.Arbitrary<JsonValue>;
    let number = 0;
    fc.assert(
      fc.property(anyJson, anyJson, anyJson, (input, progress, result) => {
        number += 1;
        const stored = { id: number, input, progress };
        const operation = anOperationIn({ kind: "completed", result, completedAtMs: T0_MS }, stored);
        operations.insert(operation);
        expect(operations.get(operation.id)).toEqual(JSON.parse(JSON.stringify(operation)));
      }),
      { numRuns: 50 },
    );
  });

  test("an operation whose id is taken is not inserted and changes nothing", () => {
    const { operations } = fresh();
    operations.insert(anOperation({ input: 1 }));
    expect(operations.insert(anOperation({ input: 2, kind: "restore", sessionId: "app-2" }))).toBe(false);
    expect(operations.unfinished().operations).toEqual([anOperation({ input: 1 })]);
  });

  test("what a caller does to an operation afterwards is not stored", () => {
    const { operations } = fresh();
    const steps = ["worktree"];
    operations.insert(anOperation({ progress: steps }));
    steps.push("runtime");
    expect(operations.get(operationId())?.progress).toEqual(["worktree"]);
  });
}

function saveTests(fresh: Fresh): void {
  test.each<[string, Operation]>([
    ["leased", aLeasedOperation()],
    ["prepared again", anOperation({ version: 2, attempt: 1, lastError: "no", nextAttemptAtMs: T0_MS + 1 })],
    ["completed", { ...completed, version: 2 }],
    ["failed", { ...failed, version: 2 }],
  ])("a save that names the stored version makes it %s", (_state, next) => {
    const { operations } = fresh();
    operations.insert(anOperation());
    expect(operations.save(next, 1)).toBe(true);
    expect(operations.get(next.id)).toEqual(next);
  });

  test("what one state has and the next has not is gone", () => {
    const { operations } = fresh();
    operations.insert(aLeasedOperation());
    const states: readonly Operation["state"][] = [
      { kind: "prepared", nextAttemptAtMs: T0_MS },
      aLease({ token: "token-2", owner: anOwner({ process: aProcess({ pid: 7 }) }) }),
      { kind: "failed", error: { code: "internal", message: "no" }, result: [] },
    ];
    states.forEach((state, index) => {
      const next = anOperationIn(state, { attempt: 2, version: index + 3 });
      expect(operations.save(next, index + 2)).toBe(true);
      expect(operations.get(next.id)).toEqual(next);
    });
  });

  test("a save leaves what was asked for as it was", () => {
    const { operations } = fresh();
    operations.insert(anOperation({ input: { note: "first" } }));
    const next = aLeasedOperation({ input: { note: "second" }, subject: "other", createdAtMs: T0_MS + 9 });
    expect(operations.save(next, 1)).toBe(true);
    const { subject, createdAtMs } = anOperation();
    expect(operations.get(next.id)).toEqual({ ...next, input: { note: "first" }, subject, createdAtMs });
  });

  test.each([0, 2, 3])("a save that names version %i of a row at 1 changes nothing", (version) => {
    const { operations } = fresh();
    operations.insert(anOperation());
    expect(operations.save(aLeasedOperation({ version: version + 1 }), version)).toBe(false);
    expect(operations.get(operationId())).toEqual(anOperation());
  });

  test("of two saves that read the same version the second is refused", () => {
    const { operations } = fresh();
    operations.insert(anOperation());
    const winner = anOperationIn(aLease({ token: "first" }), { attempt: 1, version: 2 });
    expect(operations.save(winner, 1)).toBe(true);
    expect(operations.save({ ...winner, state: aLease({ token: "second" }) }, 1)).toBe(false);
    expect(operations.get(winner.id)).toEqual(winner);
  });

  test.each<[string, Operation]>([
    ["completed", completed],
    ["failed", failed],
  ])("a %s operation is never replaced", (_state, finished) => {
    const { operations } = fresh();
    operations.insert(finished);
    const next = anOperation({ version: finished.version + 1 });
    expect(operations.save(next, finished.version)).toBe(false);
    expect(operations.get(finished.id)).toEqual(finished);
  });

  test("a save of an operation that is not there adds none", () => {
    const { operations } = fresh();
    expect(operations.save(aLeasedOperation(), 1)).toBe(false);
    expect(operations.unfinished()).toEqual({ operations: [], unreadable: [] });
  });
}

function listTests(fresh: Fresh): void {
  function filled(): OperationStore {
    const { operations } = fresh();
    operations.insert(anOperation({ id: 4, createdAtMs: T0_MS + 1, sessionId: "app-2" }));
    operations.insert(anOperation({ id: 3, sessionId: null }));
    operations.insert(anOperationIn(completed.state, { id: 5, attempt: 1 }));
    operations.insert(anOperation({ id: 10 }));
    operations.insert(aLeasedOperation({ id: 2, createdAtMs: T0_MS - 1, projectId: "web" }));
    operations.insert(anOperationIn(failed.state, { id: 6, attempt: 1, createdAtMs: T0_MS + 2 }));
    return operations;
  }

  test("the unfinished are listed by creation and then by id, across projects and sessions", () => {
    expect(ids(filled().unfinished())).toEqual([2, 3, 10, 4].map((number) => operationId(number)));
  });

  test("those of a session are listed newest first, the finished among them", () => {
    expect(ids(filled().ofSession(sessionId("app-1"), 10))).toEqual(
      [6, 10, 5, 2].map((number) => operationId(number)),
    );
  });

  test("of a session no more are listed than asked for", () => {
    const operations = filled();
    expect(ids(operations.ofSession(sessionId("app-1"), 2))).toEqual([6, 10].map((n) => operationId(n)));
    expect(ids(operations.ofSession(sessionId("app-1"), 0))).toEqual([]);
    expect(ids(operations.ofSession(sessionId("app-9"), 10))).toEqual([]);
  });
}

function transactionTests(fresh: Fresh): void {
  test("a throw undoes what was written here together with the session's row", () => {
    const { sessions, operations } = fresh();
    operations.insert(anOperation());
    const problem = new Error("no");
    const attempt = () =>
      sessions.transaction(() => {
        sessions.insert(aSession());
        operations.save(aLeasedOperation(), 1);
        operations.insert(anOperation({ id: 2 }));
        throw problem;
      });
    expect(attempt).toThrow(problem);
    expect(sessions.list()).toEqual([]);
    expect(operations.unfinished().operations).toEqual([anOperation()]);
  });

  test("what a transaction wrote is seen inside it and stays", () => {
    const { sessions, operations } = fresh();
    const inside = sessions.transaction(() => {
      sessions.insert(aSession());
      operations.insert(anOperation());
      return operations.get(operationId());
    });
    expect(inside).toEqual(anOperation());
    expect(operations.get(operationId())).toEqual(anOperation());
    expect(sessions.list(projectId("app"))).toEqual([aSession()]);
  });
}

/** What every `OperationStore` owes its callers. `open` makes a store with nothing in it. */
export function operationStoreContract(name: string, open: () => Store): void {
  const fresh = () => {
    const store = open();
    onTestFinished(() => store.close());
    return store;
  };

  describe(`${name} is an OperationStore`, () => {
    rowTests(fresh);
    saveTests(fresh);
    listTests(fresh);
    transactionTests(fresh);
  });
}
