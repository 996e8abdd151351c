import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { sqliteStore } from "../../src/adapters/sqlite/store.ts";
import { parseSessionId } from "../../src/domain/ids.ts";
import { type Ao, aoSandbox, FAULTY_AO } from "../support/ao.ts";
import { goalSchema, reconcileSchema } from "../support/json-schemas.ts";
import { runKilled } from "./crash-run.ts";
import { tell } from "./every-boundary.ts";

/** A repository whose `ao` can be killed. */
interface Place {
  readonly ao: Ao;
  readonly repository: string;
}

/** A command about the goal of a session that may be killed anywhere. */
export interface GoalCrash {
  readonly name: string;
  /** Makes the session and what it is at. */
  arrange(place: Place): Promise<string>;
  argv(id: string): readonly string[];
  /** How often the goal may have been worked on by then. */
  readonly mostTurns: number;
  /** What is true once it was carried out. */
  readonly end: "kept" | "gone";
  /** What happens once the goal is gone and the agent may rest. */
  after?(place: Place, id: string): Promise<unknown>;
}

const WORK = "append log.txt worked";
const json = (place: Place, argv: readonly string[]) => place.ao.json(goalSchema, argv);

async function atRest({ ao, repository }: Place): Promise<string> {
  const id = await ao.spawn(repository);
  await ao.until(id, "idle");
  return id;
}

async function withGoal(place: Place, text: string, maxTurns: number): Promise<string> {
  const id = await atRest(place);
  const argv = ["goal", "set", id, text, "--max-turns", String(maxTurns), "--timeout", "10s"];
  expect(await json(place, argv)).toMatchObject({ syncStatus: "synced", turnsUsed: 1 });
  return id;
}

const SET = (id: string) => [
  "goal",
  "set",
  id,
  WORK,
  "--max-turns",
  "1",
  "--request-id",
  `set-${id}`,
  "--json",
];
const FENCE = (id: string) => ["goal", "fence", id, "--request-id", `fence-${id}`, "--json"];

export const GOAL_CRASHES: readonly GoalCrash[] = [
  { name: "goal set", arrange: atRest, argv: SET, mostTurns: 1, end: "kept" },
  {
    name: "goal clear",
    arrange: (place) => withGoal(place, WORK, 9),
    argv: (id) => ["goal", "clear", id, "--request-id", `clear-${id}`, "--json"],
    mostTurns: 9,
    end: "gone",
  },
  {
    name: "goal fence of a turn that runs",
    arrange: (place) => withGoal(place, `${WORK}\nwait 600`, 9),
    argv: FENCE,
    mostTurns: 1,
    end: "gone",
  },
  {
    name: "goal fence of an order that waits",
    async arrange(place) {
      const id = await atRest(place);
      await place.ao.run(["send", id, "wait 600"]);
      expect(await json(place, ["goal", "set", id, WORK])).toMatchObject({ syncStatus: "pending" });
      return id;
    },
    argv: FENCE,
    mostTurns: 0,
    end: "gone",
    after: ({ ao }, id) => ao.run(["cancel", id]),
  },
  {
    name: "reconcile that goes on with a goal",
    async arrange(place) {
      const id = await withGoal(place, WORK, 2);
      await place.ao.until(id, "idle");
      return id;
    },
    argv: () => ["reconcile", "--json"],
    mostTurns: 2,
    end: "kept",
  },
];

function turnsWorked({ ao }: Place, id: string): number {
  const path = join(ao.dataDir, "worktrees", "shop", id, "log.txt");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").length : 0;
}

/** One tick with a clock that is ahead: what is waited for is over then. */
async function tick({ ao }: Place, aheadMs: number): Promise<void> {
  const env = { AO_FAULT_CLOCK_MS: String(aheadMs) };
  const { errors } = await ao.json(reconcileSchema, ["reconcile"], { env });
  expect(errors).toEqual([]);
}

async function ticks(place: Place): Promise<void> {
  for (const aheadMs of [0, 30_000, 60_000, 300_000, 330_000]) await tick(place, aheadMs);
}

function unfinishedOf({ ao }: Place, name: string): readonly string[] {
  const id = parseSessionId(name);
  const store = sqliteStore({ path: join(ao.dataDir, "ao.db") });
  try {
    const { operations } = store.operations.unfinished();
    return operations.filter(({ sessionId }) => sessionId === id).map(({ kind }) => kind);
  } finally {
    store.close();
  }
}

async function expectConverged(place: Place, scenario: GoalCrash, id: string): Promise<void> {
  const isGone = async () => {
    const { stdout } = await place.ao.run(["goal", "show", id, "--json"]);
    return stdout.trim() !== "null" && goalSchema.parse(JSON.parse(stdout)).tombstoned;
  };
  if (await isGone()) await scenario.after?.(place, id);
  await ticks(place);
  expect(turnsWorked(place, id)).toBeLessThanOrEqual(scenario.mostTurns);
  if (scenario.argv(id)[0] !== "reconcile") await place.ao.run(scenario.argv(id));
  if (await isGone()) await scenario.after?.(place, id);
  await ticks(place);
  expect(turnsWorked(place, id)).toBeLessThanOrEqual(scenario.mostTurns);
  expect(unfinishedOf(place, id)).toEqual([]);
  const goal = await json(place, ["goal", "show", id]);
  expect(goal.tombstoned).toBe(scenario.end === "gone");
  await tick(place, 360_000);
  expect(await json(place, ["goal", "show", id])).toEqual(goal);
}

/** Tries before a command is seen to have no such boundary: what an agent says comes in one look, or in two. */
const TRIES = 8;

/** Kills a command at that boundary, of which its last ones are not crossed each time. */
async function killedAt(place: Place, scenario: GoalCrash, at: number) {
  for (let tries = 1; ; tries++) {
    const id = await scenario.arrange(place);
    const { wasKilled, crossed } = await runKilled(place, scenario.argv(id), { at });
    if (wasKilled) return { id, boundary: crossed.at(-1) };
    if (tries === TRIES) throw new Error(`${scenario.name} has no boundary ${at}`);
    await place.ao.run(["kill", id]);
  }
}

/** Kills a command at each boundary, or every `step`-th; how many those were. */
export async function sweepGoals(scenario: GoalCrash, step = 1): Promise<number> {
  const ao = aoSandbox(FAULTY_AO);
  const place = { ao, repository: ao.repository() };
  const first = await scenario.arrange(place);
  const { crossed } = await runKilled(place, scenario.argv(first), { at: 0 });
  await ao.run(["kill", first]);
  const numbers = crossed.map((_, index) => index + 1).filter((number) => number % step === 0);
  for (const at of numbers) {
    const { id, boundary } = await killedAt(place, scenario, at);
    await expectConverged(place, scenario, id).catch((error: unknown) => {
      throw new Error(`${scenario.name}, killed at ${boundary}`, { cause: error });
    });
    await ao.run(["kill", id]);
  }
  tell(`${scenario.name}: killed at ${numbers.length} of ${crossed.length} boundaries`);
  return numbers.length;
}
