import { memoryLocks } from "../../../../src/adapters/memory/locks.ts";
import type { GoalState } from "../../../../src/domain/goal.ts";
import type { GoalControl } from "../../../../src/domain/goal-transitions.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { controlGoal } from "../../../../src/lifecycle/goals/control-goal.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { aWorld, type World } from "../../../support/world.ts";

/** A session at rest, whose agent is told of goals by messages. */
export interface GoalPlace {
  readonly world: World;
  readonly id: SessionId;
}

export async function aGoalPlace(): Promise<GoalPlace> {
  const world = aWorld();
  const { id } = await world.spawn({ prompt: null });
  await hear({ world, id }, "ready");
  return { world, id };
}

/** What the agent tells, and `ao` hears at once. */
export async function hear({ world, id }: GoalPlace, event: string, body = ""): Promise<void> {
  world.clock.advance(1);
  await world.hear(id, event, { body });
  await observeSessions(world.deps);
}

const NO_CONTROL = { objective: null, maxTurns: null, until: null };

export const setGoal = (deps: SessionDeps, id: SessionId, control: Partial<GoalControl> = {}) =>
  controlGoal(
    deps,
    id,
    { ...NO_CONTROL, action: "set", objective: "do it", ...control },
    { requestId: "set-1" },
  );

export const order = (deps: SessionDeps, id: SessionId, action: "pause" | "resume" | "clear") =>
  controlGoal(deps, id, { ...NO_CONTROL, action }, { requestId: `${action}-1` });

/** A process of its own: what a dead one held is free. */
export const alone =
  <Result>(work: (deps: SessionDeps) => Promise<Result>) =>
  (deps: SessionDeps): Promise<Result> =>
    work({ ...deps, locks: memoryLocks() });

export const tick = alone((deps) => reconcile(deps));

export const typed = ({ world }: GoalPlace): readonly string[] =>
  world.messenger.sent.map(({ text }) => text);

export function goalOf({ world, id }: GoalPlace): GoalState {
  const state = world.deps.goals.state(id);
  if (state === undefined) throw new Error(`${id} has no goal`);
  return state;
}
