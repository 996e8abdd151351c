import { onTestFinished, vi } from "vitest";
import { openAo } from "../../../src/compose.ts";
import { isTerminal } from "../../../src/domain/lifecycle.ts";
import {
  anEmptySpawn,
  planSpawn,
  restoreConfigured,
  spawnPlanned,
} from "../../../src/lifecycle/configured-sessions.ts";
import type { SessionDeps } from "../../../src/lifecycle/deps.ts";
import { queueGoals } from "../../../src/lifecycle/goals/queue-goals.ts";
import { observeSessions } from "../../../src/lifecycle/observe/observe-sessions.ts";
import { aoSandbox } from "../../support/ao.ts";
import type { Host } from "./host-driver.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };

/** The whole of it: SQLite, git, and the embedded agent in a tmux server of its own. */
export async function stackHost(): Promise<Host> {
  const sandbox = aoSandbox();
  const ao = await openAo({ env: sandbox.env, cwd: sandbox.repository(), access: "create" });
  onTestFinished(() => ao.close());
  const plan = await planSpawn(ao, { project: null, kind: "worker", agent: "embedded" });
  const { record } = await spawnPlanned(ao, plan, anEmptySpawn);
  const { id } = record;

  async function rested(deps: SessionDeps): Promise<void> {
    await vi.waitFor(async () => {
      await observeSessions(deps);
      const { state } = deps.store.get(id)?.lifecycle.activity ?? {};
      if (state !== "ready" && state !== "idle") throw new Error(`${id} is ${state}`);
      if (deps.turns.live(id) !== undefined) throw new Error(`a turn of ${id} goes on`);
    }, PATIENCE);
  }

  async function ended(deps: SessionDeps): Promise<void> {
    await vi.waitFor(async () => {
      await observeSessions(deps);
      const row = deps.store.get(id);
      if (row === undefined || !isTerminal(row.lifecycle)) throw new Error(`${id} is not over`);
    }, PATIENCE);
  }

  await rested(ao.deps);
  return {
    ...{ deps: ao.deps, id, agent: "embedded" },
    goals: queueGoals,
    quick: (objective) => `say ${objective}`,
    endless: "wait 600",
    rest: rested,
    async lose(deps) {
      const pid = deps.store.get(id)?.metadata.process?.pid;
      sandbox.tmux("kill-server");
      if (pid === undefined) return;
      await vi.waitFor(() => {
        if (isRunning(pid)) throw new Error(`${pid} runs`);
      }, PATIENCE);
    },
    async restore(deps) {
      await ended(deps);
      await restoreConfigured({ ...ao, deps }, id, { fresh: false });
      await rested(deps);
    },
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
