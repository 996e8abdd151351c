import { describe, expect, onTestFinished, test } from "vitest";
import type { GoalState } from "../../src/domain/goal.ts";
import type { Store } from "../../src/ports/store.ts";
import { sessionId, T0_MS } from "../support/builders.ts";
import { aFence, aGoal, goalOperationId } from "../support/goals.ts";

const SESSION = sessionId("app-1");
const OTHER = sessionId("app-2");

type Fresh = () => Store;

function goalTests(fresh: Fresh): void {
  test("a session has no goal at first", () => {
    const { goals } = fresh();
    expect(goals.state(SESSION)).toBeUndefined();
    expect(goals.active()).toEqual({ goals: [], unreadable: [] });
    expect(goals.fences(SESSION)).toEqual([]);
  });

  test.each<[string, GoalState]>([
    ["one that is followed", aGoal()],
    ["one that was cleared", aGoal({ desired: null, observed: null, observedAtMs: null })],
    ["one under way", aGoal({ syncStatus: "applying", pendingOperationId: goalOperationId(2) })],
    [
      "one with all there is",
      aGoal({
        desired: {
          objective: "a\u0000b\u001b🦉\n'; --",
          status: "paused",
          startedAtMs: 1,
          maxTurns: 9,
          until: "x",
        },
        observed: { objective: "other", status: "blocked", detail: "why" },
        check: { exitCode: null, output: "out\n", isCut: true, atMs: T0_MS },
        lastError: "it failed",
        incidents: [goalOperationId(3), goalOperationId(4)],
        turnsUsed: 7,
      }),
    ],
  ])("%s is read as it was written", (_what, state) => {
    const { goals } = fresh();
    expect(goals.insert(state)).toBe(true);
    expect(goals.state(SESSION)).toEqual(state);
  });

  test("a session has one goal, and another one is not inserted", () => {
    const { goals } = fresh();
    goals.insert(aGoal());
    expect(goals.insert(aGoal({ turnsUsed: 5 }))).toBe(false);
    expect(goals.state(SESSION)?.turnsUsed).toBe(0);
  });

  test("a goal is saved only over the version that was read", () => {
    const { goals } = fresh();
    expect(goals.save(aGoal({ version: 2 }), 1)).toBe(false);
    goals.insert(aGoal());
    expect(goals.save(aGoal({ version: 2, turnsUsed: 1 }), 1)).toBe(true);
    expect(goals.save(aGoal({ version: 2, turnsUsed: 8 }), 1)).toBe(false);
    expect(goals.state(SESSION)).toMatchObject({ version: 2, turnsUsed: 1 });
  });

  test("active goals are those that are wanted and not paused, by session", () => {
    const { goals } = fresh();
    const active = aGoal();
    const { desired } = active;
    goals.insert(aGoal({ sessionId: OTHER }));
    goals.insert(active);
    goals.insert(aGoal({ sessionId: sessionId("app-3"), desired: null }));
    const paused = desired && ({ ...desired, status: "paused" } as const);
    goals.insert(aGoal({ sessionId: sessionId("app-4"), desired: paused }));
    expect(goals.active().goals.map((one) => one.sessionId)).toEqual([SESSION, OTHER]);
  });
}

function fenceTests(fresh: Fresh): void {
  test("fences are those of their session, oldest first", () => {
    const { goals } = fresh();
    const [first, second] = [
      aFence(),
      aFence({
        target: { operationId: goalOperationId(2), revision: 4, repairEpoch: 1 },
        operationId: goalOperationId(8),
        createdAtMs: T0_MS + 1,
      }),
    ];
    expect([goals.insertFence(second), goals.insertFence(first)]).toEqual([true, true]);
    goals.insertFence(aFence({ sessionId: OTHER, operationId: goalOperationId(7) }));
    const found = goals.fences(SESSION);
    expect(found).toHaveLength(2);
    expect(found).toEqual(expect.arrayContaining([first, second]));
  });

  test.each([
    ["its target", aFence({ operationId: goalOperationId(7) })],
    ["its operation", aFence({ target: { ...aFence().target, operationId: goalOperationId(2) } })],
  ])("a fence is not inserted when %s has one", (_what, other) => {
    const { goals } = fresh();
    goals.insertFence(aFence());
    expect(goals.insertFence(other)).toBe(false);
    expect(goals.fences(SESSION)).toEqual([aFence()]);
  });

  test("a fence says whose agent was told of it", () => {
    const { goals } = fresh();
    expect(goals.markInstalled(aFence(), "launch-1")).toBe(false);
    goals.insertFence(aFence());
    expect(goals.markInstalled(aFence(), "launch-1")).toBe(true);
    expect(goals.fences(SESSION)).toEqual([aFence({ installedLaunchId: "launch-1" })]);
  });

  test("goals and fences are written in the transaction of the session store", () => {
    const { goals, sessions } = fresh();
    const broken = () =>
      sessions.transaction(() => {
        goals.insert(aGoal());
        goals.insertFence(aFence());
        throw new Error("no");
      });
    expect(broken).toThrow("no");
    expect(goals.state(SESSION)).toBeUndefined();
    expect(goals.fences(SESSION)).toEqual([]);
  });
}

/** What every store of goals owes. */
export function goalStoreContract(name: string, open: () => Store): void {
  const fresh: Fresh = () => {
    const store = open();
    onTestFinished(() => store.close());
    return store;
  };
  describe(`the goals of a ${name} store`, () => {
    goalTests(fresh);
    fenceTests(fresh);
  });
}
