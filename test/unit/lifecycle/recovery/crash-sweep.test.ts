import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTerminal } from "../../../../src/domain/lifecycle.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { type CrashOptions, inProcess } from "../../../support/crashing.ts";
import type { World } from "../../../support/world.ts";
import { NEIGHBOUR, pathOf, SCENARIOS, type Scenario, SUBJECT } from "./crash-scenarios.ts";

const tick = (world: World, options: CrashOptions = {}) => inProcess(world, options, reconcile);

/** All that a second reconcile must leave as it is. */
function everything({ deps, workspace, runtime, files }: World) {
  return {
    rows: deps.store.list(),
    changes: deps.changes.last(),
    branches: workspace.branches("/repo/app"),
    worktrees: [NEIGHBOUR, SUBJECT].map((id) => workspace.exists(pathOf(id))),
    runtimes: runtime.sessions(),
    files: files.paths(),
  };
}

/** Nothing is there that nobody owns, and nothing is missing that somebody does. */
async function expectSound(world: World): Promise<void> {
  const { deps, workspace, runtime, files } = world;
  expect(deps.operations.unfinished()).toEqual({ operations: [], unreadable: [] });
  const rows = deps.store.list();
  const live = rows.filter(({ lifecycle }) => !isTerminal(lifecycle));
  const marked = await deps.runtime.marked();
  expect(marked.map(({ sessionId, launchId }) => [sessionId, launchId]).sort()).toEqual(
    live.map(({ id, metadata }) => [id, metadata.launchId]).sort(),
  );
  const standing = (await deps.workspace.marked()).map(({ ref }) => ref.path);
  const recorded = rows.filter(({ metadata }) => metadata.workspaceFreedAtMs === null);
  expect(standing).toEqual(recorded.map(({ metadata }) => metadata.workspacePath).sort());
  const folders = live.map(({ id, metadata }) => `/data/launch/${id}/${metadata.launchId}/`);
  expect(files.paths().filter((path) => !folders.some((folder) => path.startsWith(folder)))).toEqual([]);
  expect(workspace.exists(pathOf(NEIGHBOUR))).toBe(true);
  expect(runtime.sessions()).toContain(NEIGHBOUR);
}

function expectEnd(world: World, scenario: Scenario): void {
  const { deps, workspace, runtime } = world;
  const rows = deps.store.list().filter(({ id }) => id !== NEIGHBOUR);
  const last = rows.filter(({ lifecycle }) => !isTerminal(lifecycle));
  const subject = [runtime.sessions().includes(SUBJECT), workspace.exists(pathOf(SUBJECT))];
  switch (scenario.end) {
    case "live":
      expect(last).toHaveLength(1);
      expect(runtime.sessions()).toHaveLength(2);
      break;
    case "freed":
      expect(subject).toEqual([false, false]);
      break;
    case "kept":
      expect(subject).toEqual([false, true]);
      break;
    case "absent":
      expect(rows.filter(({ lifecycle }) => !isTerminal(lifecycle))).toEqual([]);
      break;
    case "as before":
      break;
  }
}

async function expectRecovered(world: World, scenario: Scenario): Promise<void> {
  world.heal();
  expect((await tick(world)).ending).toMatchObject({ kind: "done", result: { errors: [] } });
  await expectSound(world);
  const before = everything(world);
  const second = await tick(world);
  expect(second.ending).toMatchObject({
    kind: "done",
    result: { transitions: [], operations: [], messages: [], orphans: [], pool: [], setAside: 0, errors: [] },
  });
  expect(everything(world)).toEqual(before);
  const repeat = () => inProcess(world, {}, (deps) => scenario.act(deps, world));
  await repeat();
  if (scenario.end !== "absent") await repeat();
  await expectSound(world);
  expectEnd(world, scenario);
}

/** Kills the command at its boundary of that number; the boundary, or `null` when it has none. */
async function crashedAt(scenario: Scenario, options: CrashOptions) {
  const world = await scenario.arrange();
  const { ending } = await inProcess(world, options, (deps) => scenario.act(deps, world));
  return ending.kind === "crashed" ? { world, at: ending.at } : null;
}

async function boundariesOf(scenario: Scenario): Promise<number> {
  const world = await scenario.arrange();
  return (await inProcess(world, {}, (deps) => scenario.act(deps, world))).crossed.length;
}

describe.each(SCENARIOS)("a $name", (scenario) => {
  test("killed at any boundary is finished or taken back by one reconcile", async () => {
    const boundaries = await boundariesOf(scenario);
    expect(boundaries).toBeGreaterThan(5);
    for (let crashAt = 1; crashAt <= boundaries; crashAt++) {
      const crashed = await crashedAt(scenario, { crashAt });
      if (crashed === null) throw new Error(`no boundary ${crashAt}`);
      await expectRecovered(crashed.world, scenario).catch((error: unknown) => {
        throw new Error(`killed at ${crashed.at}`, { cause: error });
      });
    }
  });

  test("killed anywhere, and its recovery as well, is finished or taken back by the next", async () => {
    const boundaries = await boundariesOf(scenario);
    for (let crashAt = 1; crashAt <= boundaries; crashAt++) await sweepRecovery(scenario, crashAt);
  });
});

/** Kills the command at one boundary, and its recovery at each of its own. */
async function sweepRecovery(scenario: Scenario, crashAt: number): Promise<void> {
  for (let again = 1; ; again++) {
    const crashed = await crashedAt(scenario, { crashAt });
    if (crashed === null) throw new Error(`no boundary ${crashAt}`);
    crashed.world.heal();
    const { ending } = await tick(crashed.world, { crashAt: again });
    if (ending.kind !== "crashed") return;
    await expectRecovered(crashed.world, scenario).catch((error: unknown) => {
      throw new Error(`killed at ${crashed.at} and ${ending.at}`, { cause: error });
    });
  }
}

describe("a spawn killed while git makes its worktree", () => {
  test.each(SCENARIOS.slice(0, 2))("($name) is taken back", async (scenario) => {
    const crashed = await crashedAt(scenario, { inCreate: true });
    if (crashed === null) throw new Error("it was not killed");
    await expectRecovered(crashed.world, scenario);
  });
});

describe("a command killed at random, and those that recover it, up to five times", () => {
  test("ends as if never interrupted", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...SCENARIOS),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
        async (scenario, crashes) => {
          const world = await scenario.arrange();
          for (const [index, crashAt] of crashes.entries()) {
            const act = index % 2 === 0 ? scenario.act : reconcile;
            await inProcess(world, { crashAt }, (deps) => act(deps, world));
            world.heal();
          }
          await expectRecovered(world, scenario);
        },
      ),
      { numRuns: 200 },
    );
  });
});
