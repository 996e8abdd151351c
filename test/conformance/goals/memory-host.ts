import { memoryGoalRuntime } from "../../../src/adapters/memory/goal-runtime.ts";
import { isTerminal } from "../../../src/domain/lifecycle.ts";
import type { Operation } from "../../../src/domain/operation.ts";
import type { SessionDeps } from "../../../src/lifecycle/deps.ts";
import { generationOf } from "../../../src/lifecycle/goals/goal-progress.ts";
import { queueGoals } from "../../../src/lifecycle/goals/queue-goals.ts";
import { observeSessions } from "../../../src/lifecycle/observe/observe-sessions.ts";
import { restoreSession } from "../../../src/lifecycle/restore/restore-session.ts";
import { recordTurnTransition } from "../../../src/lifecycle/turns/record-turn-transition.ts";
import { turnId } from "../../support/turns.ts";
import { aWorld } from "../../support/world.ts";
import type { Host } from "./host-driver.ts";

/** A host in memory. Its agent keeps goals by itself, or is told by messages. */
export async function memoryHost(kind: "native" | "told"): Promise<Host> {
  const world = aWorld();
  const { id } = await world.spawn({ prompt: null });
  await world.hear(id, "ready");
  await observeSessions(world.deps);
  const native = memoryGoalRuntime();
  const begin = async (deps: SessionDeps) => {
    await world.hear(id, "ready");
    await observeSessions(deps);
  };
  return {
    ...{ deps: world.deps, id, agent: "memory" },
    goals: (deps) => (kind === "native" ? native : queueGoals(deps)),
    quick: (objective) => objective,
    endless: "endless work",
    async rest(deps) {
      if (kind === "native") return;
      await world.hear(id, "stop");
      await observeSessions(deps);
    },
    ...(kind === "native" && {
      begin(deps: SessionDeps, operation: Operation) {
        const { id: projectId } = world.project;
        const birth = {
          launchId: world.row(id).metadata.launchId,
          origin: "goal_continuation",
          messageId: null,
          goal: generationOf(operation),
        } as const;
        const key = { projectId, sessionId: id, turnId: turnId("goal-turn") };
        recordTurnTransition(deps, { ...key, phase: "running", occurredAtMs: deps.clock.nowMs(), birth });
      },
    }),
    async lose() {
      world.runtime.loseRuntime(id);
    },
    async restore(deps) {
      for (let looks = 0; looks < 20 && !isTerminal(world.row(id).lifecycle); looks++) {
        world.clock.advance(60_000);
        await observeSessions(deps);
      }
      await restoreSession(deps, id, { fresh: false, settings: world.settings });
      await begin(deps);
    },
    wait: async (ms) => world.clock.advance(ms),
  };
}
