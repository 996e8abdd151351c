import { describe, expect, test } from "vitest";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { fenceGoal } from "../../../../src/lifecycle/goals/fence-goal.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aGoalPlace, alone, type GoalPlace, goalOf, hear, order, setGoal, tick, typed } from "./place.ts";

interface Scenario {
  readonly name: string;
  arrange(): Promise<GoalPlace>;
  act(deps: SessionDeps, place: GoalPlace): Promise<unknown>;
  /** Goal messages that may have been typed by then. */
  readonly mostTyped: number;
  /** What is true once it was carried out. */
  check(place: GoalPlace): void;
}

async function aWorkingGoal(): Promise<GoalPlace> {
  const place = await aGoalPlace();
  await setGoal(place.world.deps, place.id);
  return place;
}

async function aWaitingGoal(): Promise<GoalPlace> {
  const place = await aGoalPlace();
  await hear(place, "submit", "mine");
  await setGoal(place.world.deps, place.id);
  return place;
}

async function aRestingGoal(): Promise<GoalPlace> {
  const place = await aWorkingGoal();
  await hear(place, "stop");
  return place;
}

const fence = (deps: SessionDeps, { id }: GoalPlace) =>
  fenceGoal(deps, id, { requestId: "fence-1", reason: "binding_revoked" });

function expectFenced(place: GoalPlace): void {
  const { world, id } = place;
  expect(goalOf(place).desired).toBeNull();
  const [one] = world.deps.goals.fences(id);
  expect(one && world.deps.operations.get(one.operationId)?.state.kind).toBe("completed");
  expect(world.deps.turns.live(id)?.goal ?? null).toBeNull();
  expect(world.deps.messages.queued(id)).toEqual([]);
}

const expectCleared = (place: GoalPlace) => expect(goalOf(place)).toMatchObject({ desired: null });

const SCENARIOS: readonly Scenario[] = [
  {
    name: "set",
    arrange: () => aGoalPlace(),
    act: (deps, { id }) => setGoal(deps, id),
    mostTyped: 1,
    check: (place) => expect(goalOf(place).desired).toMatchObject({ objective: "do it" }),
  },
  {
    name: "clear",
    arrange: aWorkingGoal,
    act: (deps, { id }) => order(deps, id, "clear"),
    mostTyped: 1,
    check: expectCleared,
  },
  {
    name: "clear of a goal that waits",
    arrange: aWaitingGoal,
    act: (deps, { id }) => order(deps, id, "clear"),
    mostTyped: 0,
    check: expectCleared,
  },
  {
    name: "fence of a goal that is worked on",
    arrange: aWorkingGoal,
    act: fence,
    mostTyped: 1,
    check: expectFenced,
  },
  {
    name: "fence of a goal that waits",
    arrange: aWaitingGoal,
    act: fence,
    mostTyped: 0,
    check: expectFenced,
  },
  {
    name: "tick that goes on with a goal",
    arrange: aRestingGoal,
    act: (deps) => tick(deps),
    mostTyped: 2,
    check: (place) => expect(goalOf(place).turnsUsed).toBe(2),
  },
];

/** Ticks of processes of their own, with time between them. Whatever is typed to the agent in them is told of. */
async function ticks({ world }: GoalPlace, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    world.clock.advance(70_000);
    const { ending } = await inProcess(world, {}, tick);
    expect(ending).toMatchObject({ kind: "done", result: { errors: [] } });
  }
}

async function crashedAt(scenario: Scenario, crashAt: number) {
  const place = await scenario.arrange();
  const act = alone((deps) => scenario.act(deps, place));
  const { ending, crossed } = await inProcess(place.world, { crashAt }, act);
  return { place, ending, crossed };
}

/** All that further ticks must leave as it is. */
function everything({ world, id }: GoalPlace) {
  const { deps } = world;
  return { goal: deps.goals.state(id), changes: deps.changes.last(), typed: world.messenger.sent.length };
}

/** From the moment when the goal is gone its agent may rest: what was queued for it must not be typed then. */
async function restOnceGone(place: GoalPlace): Promise<void> {
  const isGone = place.world.deps.goals.state(place.id)?.desired === null;
  if (isGone && place.world.deps.turns.live(place.id)?.goal === null) await hear(place, "stop");
}

async function expectConverged(scenario: Scenario, place: GoalPlace): Promise<void> {
  await restOnceGone(place);
  await ticks(place, 4);
  expect(new Set(typed(place)).size).toBe(typed(place).length);
  expect(typed(place).length).toBeLessThanOrEqual(scenario.mostTyped);
  // The same again: nothing or the rest of it is done.
  await inProcess(
    place.world,
    {},
    alone((deps) => scenario.act(deps, place)),
  );
  await restOnceGone(place);
  await ticks(place, 4);
  expect(place.world.deps.operations.unfinished()).toEqual({ operations: [], unreadable: [] });
  expect(new Set(typed(place)).size).toBe(typed(place).length);
  expect(typed(place).length).toBeLessThanOrEqual(scenario.mostTyped);
  scenario.check(place);
  const before = everything(place);
  await ticks(place, 2);
  expect(everything(place)).toEqual(before);
}

describe.each(SCENARIOS)("a $name", (scenario) => {
  test("killed at any boundary converges, and nothing is typed twice", async () => {
    const { crossed } = await crashedAt(scenario, Number.POSITIVE_INFINITY);
    expect(crossed.length).toBeGreaterThan(3);
    for (let crashAt = 1; crashAt <= crossed.length; crashAt++) {
      const { place, ending } = await crashedAt(scenario, crashAt);
      if (ending.kind !== "crashed") throw new Error(`no boundary ${crashAt}`);
      await expectConverged(scenario, place).catch((error: unknown) => {
        throw new Error(`killed at ${ending.at}`, { cause: error });
      });
    }
  });

  test("killed anywhere, and its recovery as well, converges with the next", async () => {
    const { crossed } = await crashedAt(scenario, Number.POSITIVE_INFINITY);
    for (let crashAt = 1; crashAt <= crossed.length; crashAt++) {
      for (const again of [1, 3, 6]) {
        const { place } = await crashedAt(scenario, crashAt);
        place.world.clock.advance(70_000);
        await inProcess(place.world, { crashAt: again }, tick);
        await expectConverged(scenario, place).catch((error: unknown) => {
          throw new Error(`killed at boundary ${crashAt}, then at ${again}`, { cause: error });
        });
      }
    }
  });
});
