import { describe, expect, test } from "vitest";
import { AoError } from "../../../src/domain/errors.ts";
import { observeSessions } from "../../../src/lifecycle/observe/observe-sessions.ts";
import { goalSchema, showSchema } from "../../support/json-schemas.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld, type World } from "../../support/world.ts";

/** A session `app-1` whose agent rests. */
async function aRestingWorld(): Promise<World> {
  const world = aWorld();
  const { id } = await world.spawn({ prompt: null });
  await world.hear(id, "ready");
  await observeSessions(world.deps);
  return world;
}

const goal = (text: string) => goalSchema.parse(JSON.parse(text));
const run = (world: World, ...argv: readonly string[]) => memoryCli(world, ["goal", ...argv]);

describe("ao goal", () => {
  test("sets, shows, pauses, resumes and clears, and show tells of it", async () => {
    const world = await aRestingWorld();
    const set = await run(
      world,
      "set",
      "app-1",
      "make",
      "it",
      "--until",
      "npm test",
      "--max-turns",
      "4",
      "--json",
    );
    expect(set).toMatchObject({ exitCode: 0, stderr: "" });
    expect(goal(set.stdout)).toMatchObject({
      ...{ objective: "make it", status: "active", syncStatus: "synced", revision: 1 },
      ...{ maxTurns: 4, turnsUsed: 1, until: "npm test", check: null },
    });
    const paused = await run(world, "pause", "app-1", "--json");
    expect(goal(paused.stdout)).toMatchObject({ status: "paused", revision: 2 });
    const resumed = await run(world, "resume", "app-1", "--max-turns", "9", "--json");
    expect(goal(resumed.stdout)).toMatchObject({ status: "active", revision: 3, maxTurns: 9 });
    const shown = await memoryCli(world, ["show", "app-1", "--json"]);
    expect(showSchema.parse(JSON.parse(shown.stdout)).goal).toEqual(goal(resumed.stdout));
    expect((await memoryCli(world, ["show", "app-1"])).stdout).toContain("active (synced), turn 1 of 9");
    const cleared = await run(world, "clear", "app-1", "--json");
    expect(goal(cleared.stdout)).toMatchObject({ status: "none", tombstoned: true, objective: null });
    expect((await run(world, "show", "app-1")).stdout).toBe("app-1 has no goal\n");
  });

  test("shows null where there never was one, and makes no row", async () => {
    const world = await aRestingWorld();
    expect((await run(world, "show", "app-1", "--json")).stdout).toBe("null\n");
    expect(world.deps.goals.active().goals).toEqual([]);
  });

  test("says that an order waits, and why", async () => {
    const world = await aRestingWorld();
    const { id } = world.deps.store.list()[0] ?? {};
    if (id === undefined) throw new Error("there is no session");
    await world.hear(id, "submit", { body: "mine" });
    await observeSessions(world.deps);
    const { exitCode, stderr } = await run(world, "set", "app-1", "later");
    expect(exitCode).toBe(0);
    expect(stderr).toContain("on record; its message waits in the queue");
  });

  test("revokes the newest order, and tells what is known of that", async () => {
    const world = await aRestingWorld();
    const set = goal((await run(world, "set", "app-1", "make it", "--json")).stdout);
    const fenced = await run(world, "fence", "app-1", "--reason", "issue closed", "--json");
    expect(fenced.exitCode).toBe(0);
    const { fence, ...state } = JSON.parse(fenced.stdout);
    expect(goalSchema.parse(state)).toMatchObject({ status: "none", revision: 2, tombstoned: true });
    expect(fence).toMatchObject({
      ...{ reason: "issue closed", intentAccepted: true, settled: true, waitsFor: null },
      target: { operationId: set.operationId, revision: 1, repairEpoch: 0 },
    });
  });

  test("fenced twice is told twice, and one that was cleared is refused, with nothing on record", async () => {
    const world = await aRestingWorld();
    await run(world, "set", "app-1", "make it");
    const fences = [await run(world, "fence", "app-1"), await run(world, "fence", "app-1")];
    expect(fences.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(fences[1]?.stdout).toBe(fences[0]?.stdout);
    await run(world, "clear", "app-1");
    const refused = await run(world, "fence", "app-1");
    expect(refused).toMatchObject({ exitCode: 4, stdout: "" });
    expect(refused.stderr).toContain("has no goal any more: it was cleared; there is nothing to fence");
    expect(world.deps.operations.unfinished().operations).toEqual([]);
  });

  test.each([
    ["active", [], ""],
    ["completed", [], "it was completed; its command is asked again"],
    ["completed", ["--max-turns", "1"], "all of its 1 turns are used: allow more with --max-turns"],
  ] as const)("resumed when it was %s with %j says what that comes to", async (status, flags, text) => {
    const world = await aRestingWorld();
    await run(world, "set", "app-1", "make it", "--until", "true");
    const [goal] = world.deps.goals.active().goals;
    if (goal === undefined) throw new Error("there is no goal");
    const observed = { objective: "make it", status, detail: null };
    world.deps.goals.save({ ...goal, observed, version: goal.version + 1 }, goal.version);
    const { exitCode, stdout, stderr } = await run(world, "resume", "app-1", ...flags);
    expect([exitCode, stdout.includes("active")]).toEqual([0, true]);
    expect(text === "" ? stderr === "" : stderr.includes(text)).toBe(true);
  });

  test.each([
    [["set", "app-1", " "], 2, "the goal is empty"],
    [["set", "app-1", "x", "--max-turns", "0"], 2, "--max-turns must be"],
    [["set", "app-1", "x", "--until", ""], 2, "--until"],
    [["pause", "app-1"], 4, "has no goal"],
    [["fence", "app-1"], 4, "has no goal"],
    [["set", "app-9", "x"], 3, "no session"],
    [["fence", "app-1", "--operation", "nothing"], 3, "has no order"],
  ])("%j is refused", async (argv, exitCode, text) => {
    const world = await aRestingWorld();
    const result = await run(world, ...argv);
    expect(result).toMatchObject({ exitCode, stdout: "" });
    expect(result.stderr).toContain(text);
    expect(world.deps.operations.unfinished().operations).toEqual([]);
  });
});

describe("ao spawn --goal", () => {
  test.each([
    [["--goal", "x", "--prompt", "y"], "--goal and --prompt exclude each other"],
    [["--until", "true"], "are for --goal alone"],
  ])("%j is refused, and nothing is made", async (flags, text) => {
    const world = aWorld();
    const { exitCode, stderr } = await memoryCli(world, ["spawn", ...flags]);
    expect([exitCode, stderr.includes(text)]).toEqual([2, true]);
    expect(world.deps.store.list()).toEqual([]);
  });
});

test("ao spawn --json names the session also when its goal could not be given to it", async () => {
  const world = aWorld();
  const { operations, goals } = world.deps;
  const state: typeof goals.state = (id) => {
    const isOrdered = operations.unfinished().operations.some(({ kind }) => kind === "goal_control");
    if (isOrdered) throw new AoError("store_busy", "the store is locked");
    return goals.state(id);
  };
  const broken = { ...world, deps: { ...world.deps, goals: { ...goals, state } } };
  const argv = ["spawn", "42", "--goal", "make it", "--json"];
  const { exitCode, stdout } = await memoryCli(broken, argv);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ id: "app-1", warnings: [expect.stringContaining("locked")] });
});
