import { describe, expect, test } from "vitest";
import type { SessionId } from "../../../../src/domain/ids.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { closeIssue } from "../../../../src/lifecycle/goals/close-issue.ts";
import { controlGoal } from "../../../../src/lifecycle/goals/control-goal.ts";
import { fenceGoal } from "../../../../src/lifecycle/goals/fence-goal.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aWorld, type World } from "../../../support/world.ts";
import { aGoalPlace, alone, goalOf, order, setGoal, tick } from "./place.ts";

interface IssuePlace {
  readonly world: World;
  /** Two sessions of issue ABC-1, both with a goal, and one of another issue with one. */
  readonly ids: readonly [SessionId, SessionId, SessionId];
}

/** A session at rest, whose goal is worked on. */
async function aGoalOn(world: World, issueId: string | null): Promise<SessionId> {
  const { id } = await world.spawn({
    issueId,
    branch: `b-${issueId}-${world.deps.store.list().length}`,
    prompt: null,
  });
  await world.hear(id, "ready");
  await observeSessions(world.deps);
  await give(world, id);
  return id;
}

const give = ({ deps }: World, id: SessionId) =>
  controlGoal(deps, id, { action: "set", objective: `of ${id}`, maxTurns: null, until: null });

async function anIssuePlace(): Promise<IssuePlace> {
  const world = aWorld();
  const one = await aGoalOn(world, "ABC-1");
  const two = await aGoalOn(world, "abc-1");
  return { world, ids: [one, two, await aGoalOn(world, "ABC-12")] };
}

const close = (deps: SessionDeps) => closeIssue(deps, { projectId: PROJECT, issueId: "Abc-1" });
const PROJECT = aWorld().project.id;
const objectives = ({ world, ids }: IssuePlace) =>
  ids.map((id) => goalOf({ world, id }).desired?.objective ?? null);
const outcomes = ({ sessions }: Awaited<ReturnType<typeof close>>) => sessions.map(({ outcome }) => outcome);

describe("closing an issue", () => {
  test("revokes the goal of each of its sessions, and leaves sessions and other goals alone", async () => {
    const place = await anIssuePlace();
    const { world, ids } = place;
    await world.kill(ids[1]);
    const before = goalOf({ world, id: ids[0] }).generation;
    const closed = await close(world.deps);
    expect(closed.errors).toEqual([]);
    expect(closed.sessions.map(({ id, outcome }) => [id, outcome])).toEqual([
      [ids[0], "fenced"],
      [ids[1], "fenced"],
    ]);
    expect(objectives(place)).toEqual([null, null, `of ${ids[2]}`]);
    expect(world.deps.goals.fences(ids[0])).toMatchObject([{ target: before, reason: "issue_closed" }]);
    expect(world.deps.goals.fences(ids[2])).toEqual([]);
    expect(world.row(ids[0]).lifecycle.runtime.state).toBe("alive");
    expect(world.row(ids[0]).metadata.workspaceFreedAtMs).toBeNull();
  });

  test("again does nothing more, and says that it was done", async () => {
    const { world } = await anIssuePlace();
    const first = await close(world.deps);
    world.clock.advance(70_000);
    await tick(world.deps);
    const { sessions } = await close(world.deps);
    const changes = world.deps.changes.last();
    expect(outcomes({ sessions, errors: [] })).toEqual(["already_fenced", "already_fenced"]);
    expect(sessions.map(({ fence }) => fence?.operationId)).toEqual(
      first.sessions.map(({ fence }) => fence?.operationId),
    );
    expect(sessions.map(({ fence }) => fence?.settled)).toEqual([true, true]);
    await close(world.deps);
    expect(world.deps.changes.last()).toEqual(changes);
  });

  test("killed between two sessions, or anywhere, is finished by a repeat", async () => {
    const { crossed } = await inProcess((await anIssuePlace()).world, {}, alone(close));
    expect(crossed.filter((name) => name === "fence.begin:after")).toHaveLength(2);
    for (let crashAt = 1; crashAt <= crossed.length; crashAt++) {
      const place = await anIssuePlace();
      const { world, ids } = place;
      expect((await inProcess(world, { crashAt }, alone(close))).ending.kind).toBe("crashed");
      world.clock.advance(70_000);
      const { ending } = await inProcess(world, {}, alone(close));
      expect(ending).toMatchObject({ kind: "done", result: { errors: [] } });
      expect(objectives(place)).toEqual([null, null, `of ${ids[2]}`]);
      expect(ids.map((id) => world.deps.goals.fences(id).length)).toEqual([1, 1, 0]);
    }
  });

  test("one session's failure does not stop the others, and is told", async () => {
    const { world, ids } = await anIssuePlace();
    const { goals } = world.deps;
    const state = (id: SessionId) => {
      if (id === ids[0]) throw new Error("its row is gone");
      return goals.state(id);
    };
    const { sessions, errors } = await close({ ...world.deps, goals: { ...goals, state } });
    expect(sessions.map(({ id }) => id)).toEqual([ids[1]]);
    expect(errors).toEqual([{ id: ids[0], message: "its row is gone" }]);
  });

  test("a goal that is set afterwards stands until it is closed again", async () => {
    const place = await anIssuePlace();
    const { world, ids } = place;
    await close(world.deps);
    await world.hear(ids[0], "interrupt");
    await observeSessions(world.deps);
    await close(world.deps);
    await give(world, ids[0]);
    expect(objectives(place)[0]).toBe(`of ${ids[0]}`);
    expect(outcomes(await close(world.deps))[0]).toBe("fenced");
    expect(objectives(place)[0]).toBeNull();
  });

  test("a session without a goal is told as that; an issue without sessions is nothing to do", async () => {
    const world = aWorld();
    const { id } = await world.spawn({ issueId: "ABC-1" });
    const { id: cleared } = await world.spawn({ issueId: "abc-1", branch: "other" });
    await order(world.deps, cleared, "clear");
    expect((await close(world.deps)).sessions).toEqual([
      { id, outcome: "no_goal", fence: null },
      { id: cleared, outcome: "no_goal", fence: null },
    ]);
    const nobody = await closeIssue(world.deps, { projectId: PROJECT, issueId: "none" });
    expect(nobody).toEqual({ sessions: [], errors: [] });
  });
});

describe("a fence that names no order", () => {
  test.each([
    ["without a name", null],
    ["under one name", "r"],
  ])("given twice %s is one fence", async (_how, requestId) => {
    const { world, id } = await aGoalPlace();
    await setGoal(world.deps, id);
    const fence = () => fenceGoal(world.deps, id, { requestId, reason: "withdrawn" });
    const first = await fence();
    await world.hear(id, "interrupt");
    await observeSessions(world.deps);
    const second = await fence();
    expect(second).toMatchObject({ operationId: first.operationId, target: first.target, settled: true });
    const { version } = goalOf({ world, id });
    await fence();
    expect([world.deps.goals.fences(id).length, goalOf({ world, id }).version]).toEqual([1, version]);
  });

  test("is refused once the goal was cleared, and leaves nothing on record", async () => {
    const { world, id } = await aGoalPlace();
    await setGoal(world.deps, id);
    const { generation } = goalOf({ world, id });
    await order(world.deps, id, "clear");
    const fence = (targetOperationId?: string) =>
      fenceGoal(world.deps, id, {
        ...{ requestId: null, reason: "withdrawn" },
        ...(targetOperationId !== undefined && { targetOperationId }),
      });
    await expect(fence()).rejects.toMatchObject({ code: "goal_absent" });
    await expect(fence()).rejects.toThrow("it was cleared; there is nothing to fence");
    expect(world.deps.goals.fences(id)).toEqual([]);
    expect((await fence(generation.operationId)).target).toEqual(generation);
  });
});
