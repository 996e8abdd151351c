import { describe, expect, test } from "vitest";
import { continueGoals } from "../../../../src/lifecycle/goals/continue-goals.ts";
import { sendMessage } from "../../../../src/lifecycle/messages/send-message.ts";
import type { GoalCheckResult } from "../../../../src/ports/goal-check.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aGoalPlace, type GoalPlace, goalOf, hear, order, setGoal, tick, typed } from "./place.ts";

const exit = (exitCode: number, output = ""): GoalCheckResult => ({
  kind: "ended",
  exitCode,
  output,
  isCut: false,
});

/** A goal whose first turn is over. */
async function aRestingGoal(control: Parameters<typeof setGoal>[2] = {}): Promise<GoalPlace> {
  const place = await aGoalPlace();
  await setGoal(place.world.deps, place.id, control);
  await hear(place, "stop");
  return place;
}

const SECOND = "Go on with the goal (turn 2 of 3):\n\ndo it";

describe("a goal", () => {
  test("begins with its own text, and the turn says for which generation it is", async () => {
    const place = await aGoalPlace();
    const { operationId } = await setGoal(place.world.deps, place.id, { maxTurns: 3 });
    expect(typed(place)).toEqual(["do it"]);
    expect(place.world.deps.turns.newest(place.id)).toMatchObject({
      origin: "goal_arm",
      goal: { operationId, revision: 1, repairEpoch: 0 },
      state: { kind: "running" },
    });
    expect(goalOf(place)).toMatchObject({
      syncStatus: "synced",
      turnsUsed: 1,
      observed: { status: "active" },
    });
  });

  test("goes on when its agent rests, turn by turn, until all of them were used", async () => {
    const place = await aRestingGoal({ maxTurns: 3 });
    const { deps } = place.world;
    expect((await tick(deps)).goals).toEqual([{ sessionId: place.id, kind: "continued", turnsUsed: 1 }]);
    expect(typed(place)).toEqual(["do it", SECOND]);
    expect(deps.turns.newest(place.id)).toMatchObject({ origin: "goal_continuation", goal: { revision: 1 } });
    expect((await tick(deps)).goals).toEqual([]);
    await hear(place, "stop");
    await tick(deps);
    await hear(place, "stop");
    expect(goalOf(place).turnsUsed).toBe(3);
    expect((await tick(deps)).goals).toMatchObject([{ kind: "limited", turnsUsed: 3 }]);
    expect(goalOf(place)).toMatchObject({ syncStatus: "synced", observed: { status: "limited" } });
    expect((await tick(deps)).goals).toEqual([]);
    expect(typed(place)).toHaveLength(3);
  });

  test("is over when its command ends with 0, whose output is kept", async () => {
    const place = await aRestingGoal({ until: "npm test" });
    const { deps, goalChecks } = place.world;
    goalChecks.answer(exit(1, "2 failed"), exit(0, "all passed"));
    await tick(deps);
    expect(goalOf(place).check).toMatchObject({ exitCode: 1, output: "2 failed" });
    expect(goalChecks.runs).toMatchObject([{ command: "npm test", cwd: `/data/worktrees/app/${place.id}` }]);
    expect(goalChecks.runs[0]?.env).toMatchObject({ AO_SESSION_ID: place.id });
    await hear(place, "stop");
    expect((await tick(deps)).goals).toMatchObject([{ kind: "completed", turnsUsed: 2 }]);
    expect(goalOf(place)).toMatchObject({
      check: { exitCode: 0, output: "all passed" },
      observed: { status: "completed" },
      desired: { status: "active" },
      syncStatus: "synced",
    });
    await hear(place, "idle");
    expect((await tick(deps)).goals).toEqual([]);
    expect(typed(place)).toHaveLength(2);
  });

  test("is not asked beside a command that a dead process had begun: that is ended, and nothing else", async () => {
    const place = await aRestingGoal({ until: "npm test" });
    const { world, id } = place;
    const { ending } = await inProcess(world, { crashAtBoundary: "goal.check:before" }, tick);
    expect(ending.kind).toBe("crashed");
    const path = world.files.paths().find((one) => one.endsWith("/goal-check")) ?? "";
    const left = (value: string) =>
      world.processes.add({ command: "npm test", environment: { AO_GOAL_CHECK_ID: value } });
    const [own, other] = [left((await world.files.read(path)) ?? ""), left("another")];
    world.goalChecks.answer(exit(0));
    expect((await tick(world.deps)).goals).toMatchObject([{ sessionId: id, kind: "completed" }]);
    const facts = await world.processes.look([own, other]);
    expect(facts.map(({ kind }) => kind)).toEqual(["dead", "alive"]);
    expect(await world.files.exists(path)).toBe(false);
  });

  test("is asked once more when its turns are used, and may be reached then", async () => {
    const place = await aRestingGoal({ until: "check", maxTurns: 1 });
    place.world.goalChecks.answer(exit(0));
    expect((await tick(place.world.deps)).goals).toMatchObject([{ kind: "completed" }]);
  });

  test.each([
    ["a command that could not be run", { kind: "not_run", why: "no such folder" }],
    ["a command whose time was up", { kind: "broken_off", why: "its time was up", output: "", isCut: false }],
  ] as const)("%s does not end it", async (_what, result) => {
    const place = await aRestingGoal({ until: "check" });
    place.world.goalChecks.answer(result);
    expect((await tick(place.world.deps)).goals).toMatchObject([{ kind: "continued" }]);
    expect(goalOf(place).check).toMatchObject({ exitCode: null });
  });

  test.each([
    ["while its agent works", async (place: GoalPlace) => hear(place, "active")],
    ["while its agent asks", async (place: GoalPlace) => hear(place, "waiting_input")],
    ["while it is paused", async ({ world, id }: GoalPlace) => order(world.deps, id, "pause")],
    ["once it is cleared", async ({ world, id }: GoalPlace) => order(world.deps, id, "clear")],
    ["once its session was killed", async ({ world, id }: GoalPlace) => world.kill(id)],
  ])("does not go on %s", async (_when, happen) => {
    const place = await aRestingGoal();
    await happen(place);
    const { goals } = await continueGoals(place.world.deps);
    expect(goals).toEqual([]);
    expect(place.world.deps.messages.queued(place.id)).toEqual([]);
  });

  test("lets a person's message go first", async () => {
    const place = await aRestingGoal();
    const { deps } = place.world;
    await sendMessage(deps, place.id, "look here", { timeoutMs: 0, wait: false });
    expect((await tick(deps)).goals).toEqual([]);
    expect(typed(place)).toEqual(["do it", "look here"]);
  });

  test.each(["interrupt"])("is blocked when a person stops its turn, until it is resumed", async (stop) => {
    const place = await aGoalPlace();
    const { deps } = place.world;
    await setGoal(deps, place.id);
    await hear(place, stop);
    expect((await tick(deps)).goals).toMatchObject([{ kind: "blocked" }]);
    expect(goalOf(place).observed).toMatchObject({ status: "blocked", detail: "its turn was stopped" });
    expect((await tick(deps)).goals).toEqual([]);
    await order(deps, place.id, "resume");
    expect((await tick(deps)).goals).toMatchObject([{ kind: "continued" }]);
    expect(typed(place)).toHaveLength(2);
  });

  test("is blocked when its message was not confirmed, and that one is never sent again", async () => {
    const place = await aRestingGoal();
    const { deps, messenger, clock } = place.world;
    messenger.setListener(place.id, "deaf");
    await tick(deps);
    clock.advance(30_000);
    await tick(deps);
    await hear(place, "idle");
    await tick(deps);
    expect(goalOf(place).observed).toMatchObject({ status: "blocked" });
    expect(typed(place).filter((text) => text.startsWith("Go on"))).toHaveLength(1);
  });

  test("goes on after a person restored its session, and not before", async () => {
    const place = await aRestingGoal();
    const { world, id } = place;
    await world.kill(id);
    for (let ticks = 0; ticks < 3; ticks++) await tick(world.deps);
    expect(typed(place)).toHaveLength(1);
    await world.restore(id);
    await hear(place, "ready");
    await tick(world.deps);
    expect(typed(place)).toHaveLength(2);
  });

  test("gets one turn from two ticks at once", async () => {
    const place = await aRestingGoal({ until: "check" });
    const both = await Promise.all([tick(place.world.deps), tick(place.world.deps)]);
    expect(both.flatMap(({ errors }) => errors)).toEqual([]);
    expect(typed(place)).toHaveLength(2);
  });

  test("is not given to an agent that does not tell when it rests", async () => {
    const { aWorld } = await import("../../../support/world.ts");
    const world = aWorld({ capabilities: { hooks: false } });
    const { id } = await world.spawn({ prompt: null });
    await expect(setGoal(world.deps, id)).rejects.toMatchObject({ code: "goal_unsupported" });
    expect(world.deps.goals.state(id)).toBeUndefined();
    expect(world.deps.operations.unfinished().operations).toEqual([]);
  });
});

describe("an order", () => {
  test("waits in the queue while the agent works, and is carried out when it rests", async () => {
    const place = await aGoalPlace();
    const { deps } = place.world;
    await hear(place, "submit", "mine");
    const { settled, waitsFor } = await setGoal(deps, place.id);
    expect([settled, waitsFor]).toEqual([false, "its message waits in the queue"]);
    expect(goalOf(place)).toMatchObject({ syncStatus: "pending", turnsUsed: 0 });
    await hear(place, "stop");
    await tick(deps);
    expect(goalOf(place)).toMatchObject({ syncStatus: "synced", turnsUsed: 1, pendingOperationId: null });
    expect(typed(place)).toEqual(["do it"]);
  });

  test("takes back what waits in the queue for the one before it", async () => {
    const place = await aGoalPlace();
    const { deps } = place.world;
    await hear(place, "submit", "mine");
    await setGoal(deps, place.id);
    await order(deps, place.id, "clear");
    await hear(place, "stop");
    await tick(deps);
    expect(typed(place)).toEqual([]);
    expect(goalOf(place)).toMatchObject({ syncStatus: "synced", desired: null });
  });

  test.each(["pause", "resume"] as const)("to %s nothing is refused, and leaves no trace", async (action) => {
    const { world, id } = await aGoalPlace();
    await expect(order(world.deps, id, action)).rejects.toMatchObject({ code: "goal_absent" });
    expect(world.deps.goals.state(id)).toBeUndefined();
    expect(world.deps.operations.unfinished().operations).toEqual([]);
  });

  test("to clear nothing is legal", async () => {
    const { world, id } = await aGoalPlace();
    const { state, settled } = await order(world.deps, id, "clear");
    expect([state.syncStatus, state.generation.revision, settled]).toEqual(["synced", 1, true]);
  });

  test("to set the goal of a session that is over is refused", async () => {
    const { world, id } = await aGoalPlace();
    await world.kill(id);
    await expect(setGoal(world.deps, id)).rejects.toMatchObject({ code: "not_running" });
    expect(world.deps.goals.state(id)).toBeUndefined();
  });
});

describe("a spawn with a goal", () => {
  const GOAL = { objective: "do it", maxTurns: 2, until: null };

  test("has it on record with its row, and a repeat gives it nothing more", async () => {
    const { aWorld } = await import("../../../support/world.ts");
    const world = aWorld();
    const { id } = await world.spawn({ prompt: null, goal: GOAL, requestId: "r" });
    expect(world.deps.goals.state(id)).toMatchObject({ desired: { maxTurns: 2 }, syncStatus: "pending" });
    await hear({ world, id }, "ready");
    await tick(world.deps);
    expect((await world.spawn({ prompt: null, goal: GOAL, requestId: "r" })).id).toBe(id);
    await tick(world.deps);
    expect(typed({ world, id })).toEqual(["do it"]);
    expect(world.deps.goals.state(id)).toMatchObject({ generation: { revision: 1 }, syncStatus: "synced" });
  });
});
