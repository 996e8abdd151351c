import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonValue } from "../../src/domain/canonical-json.ts";
import type { Change, ChangeLog } from "../../src/ports/change-log.ts";
import type { Store } from "../../src/ports/store.ts";
import { aSession, projectId, sessionId, T0_MS } from "../support/builders.ts";
import { anOperation, operationId } from "../support/operations.ts";

type Unnumbered = Omit<Change, "sequence">;

function aChange(overrides: Partial<Unnumbered> = {}): Unnumbered {
  return {
    atMs: T0_MS,
    projectId: projectId("app"),
    sessionId: sessionId("app-1"),
    type: "session.changed",
    data: { revision: 2 },
    ...overrides,
  };
}

const numbers = (changes: readonly Change[]) => changes.map(({ sequence }) => sequence);

function appendMany(changes: ChangeLog, count: number): void {
  for (let index = 1; index <= count; index++) changes.append(aChange({ data: index }));
}

function logTests(fresh: () => Store): void {
  test("an empty log has no last change", () => {
    const { changes } = fresh();
    expect(changes.last()).toBe(0);
    expect(changes.after(0, 10)).toEqual([]);
  });

  test.each<[string, Unnumbered]>([
    ["a change of a session", aChange()],
    ["a change of no session", aChange({ sessionId: null, type: "operation.completed", data: null })],
    ["hostile text", aChange({ type: "'; DROP TABLE changes; --", data: { "\ud800": ["\u0000", "🦉"] } })],
  ])("%s is read as it was appended", (_what, change) => {
    const { changes } = fresh();
    expect(changes.append(change)).toBe(1);
    expect(changes.after(0, 10)).toEqual([{ ...change, sequence: 1 }]);
  });

  test("any data is read as it was appended", () => {
    const { changes } = fresh();
    fc.assert(
      fc.property(fc.jsonValue() as fc.Arbitrary<JsonValue>, (data) => {
        const sequence = changes.append(aChange({ data }));
        expect(changes.after(sequence - 1, 1)[0]?.data).toEqual(JSON.parse(JSON.stringify(data)));
      }),
      { numRuns: 50 },
    );
  });

  test("sequence numbers count from 1 without a gap", () => {
    const { changes } = fresh();
    appendMany(changes, 5);
    expect(numbers(changes.after(0, 10))).toEqual([1, 2, 3, 4, 5]);
    expect(changes.last()).toBe(5);
  });

  test("they count up though the clock goes back", () => {
    const { changes } = fresh();
    changes.append(aChange({ atMs: T0_MS }));
    changes.append(aChange({ atMs: T0_MS - 3_600_000 }));
    expect(numbers(changes.after(0, 10))).toEqual([1, 2]);
  });

  test.each<[string, number, number, readonly number[]]>([
    ["from the middle", 2, 10, [3, 4, 5]],
    ["no more than asked for, the oldest first", 1, 2, [2, 3]],
    ["none at the end", 5, 10, []],
    ["none beyond the end", 9, 10, []],
    ["none when none are asked for", 0, 0, []],
    ["all after a number that none has", -7, 10, [1, 2, 3, 4, 5]],
  ])("reads %s", (_what, after, limit, expected) => {
    const { changes } = fresh();
    appendMany(changes, 5);
    expect(numbers(changes.after(after, limit))).toEqual(expected);
  });

  test("a reader that goes on from the last one it read misses none and repeats none", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 4 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 3 }),
        (bursts, limit) => {
          const { changes } = fresh();
          const read: number[] = [];
          for (const burst of [...bursts, 0]) {
            appendMany(changes, burst);
            read.push(...numbers(changes.after(read.at(-1) ?? 0, limit)));
          }
          expect(read).toEqual(Array.from({ length: read.length }, (_, index) => index + 1));
        },
      ),
      { numRuns: 20 },
    );
  });

  test("what a caller does to the data afterwards is not stored", () => {
    const { changes } = fresh();
    const data = ["a"];
    changes.append(aChange({ data }));
    data.push("b");
    expect(changes.after(0, 1)[0]?.data).toEqual(["a"]);
  });
}

function transactionTests(fresh: () => Store): void {
  test("a throw undoes the change with all that it tells of, and its number is given again", () => {
    const { sessions, operations, changes } = fresh();
    changes.append(aChange({ data: "kept" }));
    const problem = new Error("no");
    const attempt = () =>
      sessions.transaction(() => {
        sessions.insert(aSession());
        operations.insert(anOperation());
        expect(changes.append(aChange({ data: "undone" }))).toBe(2);
        throw problem;
      });
    expect(attempt).toThrow(problem);
    expect(sessions.list()).toEqual([]);
    expect(operations.get(operationId())).toBeUndefined();
    expect(changes.last()).toBe(1);
    expect(changes.append(aChange({ data: "next" }))).toBe(2);
    expect(changes.after(0, 10).map(({ data }) => data)).toEqual(["kept", "next"]);
  });

  test("what a transaction appended is seen inside it and stays", () => {
    const { sessions, changes } = fresh();
    const inside = sessions.transaction(() => {
      changes.append(aChange());
      return changes.last();
    });
    expect(inside).toBe(1);
    expect(numbers(changes.after(0, 10))).toEqual([1]);
  });
}

/** What every `ChangeLog` owes its callers. `open` makes a store with nothing in it. */
export function changeLogContract(name: string, open: () => Store): void {
  const fresh = () => {
    const store = open();
    onTestFinished(() => store.close());
    return store;
  };

  describe(`${name} is a ChangeLog`, () => {
    logTests(fresh);
    transactionTests(fresh);
  });
}
