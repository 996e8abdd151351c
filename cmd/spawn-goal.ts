import type { Command } from "commander";
import type { Ao } from "../src/compose.ts";
import { AoError, isAoError } from "../src/domain/errors.ts";
import { parseObjective } from "../src/domain/goal-text.ts";
import { DEFAULT_MAX_TURNS } from "../src/domain/goal-transitions.ts";
import type { SessionId } from "../src/domain/ids.ts";
import type { SpawnInput } from "../src/lifecycle/configured-sessions.ts";
import { advanceGoal } from "../src/lifecycle/goals/control-goal.ts";
import { type GoalLimitFlags, goalLimits } from "./goal-flags.ts";
import { type Invocation, refuseTogether } from "./invocation.ts";

/** How a session is spawned with a goal. */
export interface SpawnGoalFlags extends GoalLimitFlags {
  readonly goal?: string;
  readonly prompt?: string;
  readonly promptFile?: string;
}

/** How long a new agent is waited for, so that its goal reaches it at once. */
const WAIT_MS = 15_000;

/** Adds `--goal` and what belongs to it. */
export function addGoalFlags(command: Command): Command {
  return command
    .option("--goal <text>", "a standing goal in place of a prompt; ao reconcile goes on with it")
    .option("--max-turns <n>", `with --goal: turns that it may take (default: ${DEFAULT_MAX_TURNS})`)
    .option("--until <command>", "with --goal: a command whose exit 0 means that it is reached");
}

/** What `--goal` and its flags ask for, or nothing. @throws AoError usage */
export function goalOf(flags: SpawnGoalFlags): Pick<SpawnInput, "goal"> {
  const { goal, maxTurns, until } = flags;
  if (goal === undefined) {
    if (maxTurns === undefined && until === undefined) return {};
    throw new AoError("usage", "--max-turns and --until are for --goal alone", { hint: "add --goal <text>" });
  }
  const hasPrompt = flags.prompt !== undefined || flags.promptFile !== undefined;
  refuseTogether([true, "--goal"], [hasPrompt, "--prompt"]);
  return { goal: { objective: parseObjective(goal), ...goalLimits({ maxTurns, until }) } };
}

/**
 * Gives a new session its goal, if it was spawned with one. An agent that is slow to start gets it from the next tick.
 * The session runs whatever becomes of that, and is told: why its goal could not be given now is a warning.
 *
 * @returns the warnings, which a person was told already.
 */
export async function beginGoal(invocation: Invocation, ao: Ao, id: SessionId): Promise<readonly string[]> {
  invocation.progress.step(`giving ${id} its goal`);
  try {
    const state = await advanceGoal(ao.deps, id, WAIT_MS);
    const waits = state !== undefined && state.pendingOperationId !== null;
    if (waits) invocation.note(`the goal of ${id} waits for its agent; ao reconcile delivers it`);
    return [];
  } catch (error) {
    if (!isAoError(error)) throw error;
    const warning = `${id} runs, and its goal could not be given to it now: ${error.message}; ao reconcile does it`;
    invocation.warn(warning);
    return [warning];
  }
}
