import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  GOAL_ACTIONS,
  type GoalState,
  goalStatus,
  isGivenUp,
  isTombstoned,
} from "../../../src/domain/goal.ts";
import { whyGiveUp } from "../../../src/domain/goal-budget.ts";
import { toGoalJson } from "../../../src/domain/goal-json.ts";
import { decideRepair } from "../../../src/domain/goal-repair.ts";
import { goalMessage, parseObjective, parseUntil } from "../../../src/domain/goal-text.ts";
import {
  afterApplied,
  afterFailedControl,
  afterLocalStop,
  afterObserved,
  afterTurnBegun,
  converges,
  decideControl,
  type GoalControl,
} from "../../../src/domain/goal-transitions.ts";
import { T0_MS } from "../../support/builders.ts";
import { aGoal, goalOperationId } from "../../support/goals.ts";

const { projectId, sessionId } = aGoal();
const context = {
  ...{ projectId, sessionId, operationId: goalOperationId(2), expectedRevision: null },
  nowMs: T0_MS + 5,
};
const control = (action: GoalControl["action"], part: Partial<GoalControl> = {}): GoalControl => ({
  ...{ action, objective: action === "set" ? "other" : null, maxTurns: null, until: null },
  ...part,
});
const cleared = aGoal({ desired: null, observed: null });

describe("an order", () => {
  test.each(GOAL_ACTIONS)("to %s adds one to the revision, and leaves what was observed alone", (action) => {
    const before = aGoal({ incidents: ["x"], lastError: "why" });
    const decision = decideControl(before, control(action), context);
    if (decision.kind !== "ordered") throw new Error(decision.kind);
    expect(decision.state).toMatchObject({
      generation: { operationId: context.operationId, revision: 2, repairEpoch: 0 },
      ...{ syncStatus: "pending", pendingOperationId: context.operationId, incidents: [], lastError: null },
      ...{ observed: before.observed, version: 2 },
    });
    expect(isTombstoned(decision.state)).toBe(action === "clear");
  });

  test.each([
    ["pause", undefined],
    ["resume", undefined],
    ["pause", cleared],
    ["resume", cleared],
  ] as const)("to %s nothing is none", (action, stored) => {
    expect(decideControl(stored, control(action), context)).toEqual({ kind: "absent" });
  });

  test("for another revision than the goal has is superseded", () => {
    const late = decideControl(aGoal(), control("clear"), { ...context, expectedRevision: 3 });
    expect(late.kind).toBe("superseded");
    expect(decideControl(aGoal(), control("clear"), { ...context, expectedRevision: 1 }).kind).toBe(
      "ordered",
    );
  });

  test("a set begins to count anew, a resume goes on counting and may allow more", () => {
    const used = aGoal({ turnsUsed: 3 });
    expect(decideControl(used, control("set"), context)).toMatchObject({ state: { turnsUsed: 0 } });
    expect(decideControl(used, control("resume", { maxTurns: 9 }), context)).toMatchObject({
      state: { turnsUsed: 3, desired: { maxTurns: 9, objective: "make it work" } },
    });
  });

  test("revisions grow by one with each order, whatever the orders are", () => {
    const anAction = fc.constantFrom(...GOAL_ACTIONS);
    fc.assert(
      fc.property(fc.array(anAction, { maxLength: 12 }), (actions) => {
        let state: GoalState | undefined;
        let revision = 0;
        for (const action of actions) {
          const decision = decideControl(state, control(action), context);
          if (decision.kind !== "ordered") continue;
          revision += 1;
          state = decision.state;
          expect(state.generation.revision).toBe(revision);
          expect(state.version).toBe(revision);
        }
      }),
    );
  });
});

describe("convergence", () => {
  const { desired, observed } = aGoal();
  const paused = desired && ({ ...desired, status: "paused" } as const);
  const seen = (status: "active" | "paused" | "completed" | "limited" | "blocked") =>
    observed && { ...observed, status };
  test.each([
    ["nothing wanted, nothing followed", null, null, true],
    ["nothing wanted, something followed", null, observed, false],
    ["wanted and not followed", desired, null, false],
    ["the same", desired, observed, true],
    ["another text", desired, observed && { ...observed, objective: "other" }, false],
    ["wanted and completed", desired, seen("completed"), true],
    ["wanted and limited", desired, seen("limited"), true],
    ["wanted and blocked", desired, seen("blocked"), true],
    ["wanted and paused", desired, seen("paused"), false],
    ["paused and paused", paused, seen("paused"), true],
    ["paused and active", paused, seen("active"), false],
  ] as const)("%s", (_what, wanted, followed, expected) => {
    expect(converges(wanted, followed)).toBe(expected);
  });
});

describe("the end of an order", () => {
  const pending = aGoal({ syncStatus: "applying", pendingOperationId: goalOperationId(), observed: null });

  test("is synced when the agent follows it, and diverged when it follows something else", () => {
    expect(afterApplied(pending, aGoal().observed, T0_MS).syncStatus).toBe("synced");
    expect(afterApplied(pending, null, T0_MS)).toMatchObject({
      syncStatus: "diverged",
      pendingOperationId: null,
    });
  });

  test("that failed keeps what is wanted", () => {
    expect(afterFailedControl(pending, "no", T0_MS)).toMatchObject({
      ...{ syncStatus: "failed", lastError: "no", pendingOperationId: null, desired: pending.desired },
    });
  });

  test("without a word to the agent claims nothing of what that follows", () => {
    const followed = aGoal({ pendingOperationId: goalOperationId() });
    expect(afterLocalStop(followed, T0_MS)).toMatchObject({
      syncStatus: "unknown",
      observed: followed.observed,
    });
  });

  test("an observation moves the observed side alone, and an older one nothing", () => {
    const seen = afterObserved(pending, aGoal().observed, T0_MS + 1);
    expect(seen).toMatchObject({ syncStatus: "applying", generation: pending.generation });
    expect(afterObserved(seen, null, T0_MS)).toBe(seen);
  });

  test("a turn counts once", () => {
    const begun = afterTurnBegun(aGoal(), 1, T0_MS);
    expect(begun.turnsUsed).toBe(1);
    expect(afterTurnBegun(begun, 1, T0_MS)).toBe(begun);
  });
});

describe("a repair", () => {
  const repair = (state: GoalState, source: string) =>
    decideRepair(state, { source, repairId: goalOperationId(7), nowMs: T0_MS });

  test("wakes the order that is under way, in the next epoch", () => {
    const pending = aGoal({ pendingOperationId: goalOperationId() });
    expect(repair(pending, "a")).toMatchObject({
      kind: "wake",
      operationId: goalOperationId(),
      state: {
        generation: { operationId: goalOperationId(), revision: 1, repairEpoch: 1 },
        incidents: ["a"],
      },
    });
  });

  test.each([
    ["set", aGoal()],
    ["clear", cleared],
  ] as const)("gives what is wanted once more by a %s, when nothing is under way", (action, state) => {
    expect(repair(state, "a")).toMatchObject({
      ...{ kind: "repeat", action },
      state: { pendingOperationId: goalOperationId(7), generation: { revision: 1, repairEpoch: 1 } },
    });
  });

  test("of the same source is made once, and of a ninth the goal is given up until a new order", () => {
    let state = aGoal();
    for (let number = 1; number <= 9; number++) {
      const decision = repair(state, `source ${number}`);
      if (decision.kind === "known") throw new Error("it was not known");
      state = decision.state;
      expect(repair(state, `source ${number}`).kind).toBe("known");
      expect(decision.kind === "given_up").toBe(number === 9);
    }
    expect(isGivenUp(state)).toBe(true);
    expect(state).toMatchObject({ syncStatus: "unknown", pendingOperationId: null });
    expect(afterObserved(state, aGoal().observed, T0_MS).syncStatus).toBe("unknown");
    expect(repair(state, "source 10").kind).toBe("known");
    const anew = decideControl(state, control("set"), context);
    expect(anew).toMatchObject({ state: { incidents: [], syncStatus: "pending" } });
  });
});

describe("the budget of an order", () => {
  const at = (atMs: number, attempt: number) => ({ atMs, attempt });
  test.each([
    ["before it was told, whenever", null, null, at(1e12, 999), false],
    ["within ten minutes and 24 tries", at(0, 1), null, at(599_999, 24), false],
    ["after ten minutes", at(0, 1), null, at(600_000, 2), true],
    ["after 24 tries", at(0, 1), null, at(1, 25), true],
    ["within two minutes after it was taken", at(0, 1), at(0, 1), at(119_999, 9), false],
    ["after two minutes", at(0, 1), at(0, 1), at(120_000, 9), true],
    ["counted from when it was told", at(500_000, 20), null, at(900_000, 30), false],
  ])("%s", (_when, dispatched, accepted, now, isOver) => {
    expect(whyGiveUp({ dispatched, accepted }, now) !== null).toBe(isOver);
  });
});

describe("a goal in words", () => {
  test.each([
    ["none", cleared],
    ["active", aGoal()],
    ["pending", aGoal({ observed: null })],
    ["pending", aGoal({ observed: { objective: "other", status: "completed", detail: null } })],
    ["completed", aGoal({ observed: { objective: "make it work", status: "completed", detail: null } })],
  ] as const)("is %s", (expected, state) => {
    expect(goalStatus(state)).toBe(expected);
    expect(toGoalJson(state)).toMatchObject({ status: expected, tombstoned: state.desired === null });
  });

  test("its first message is the text itself, and a later one says which turn it is", () => {
    expect(goalMessage("a\nb", { number: 1, maxTurns: 4 })).toBe("a\nb");
    expect(goalMessage("a\nb", { number: 3, maxTurns: 4 })).toBe(
      "Go on with the goal (turn 3 of 4):\n\na\nb",
    );
  });

  test.each(["", " \n", "a\0b", "x".repeat(70_000)])("refuses %j", (text) => {
    expect(() => parseObjective(text)).toThrow(expect.objectContaining({ code: "usage" }));
    expect(() => parseUntil(text)).toThrow(expect.objectContaining({ code: "usage" }));
  });
});
