import { describe, expect, test } from "vitest";
import { memoryConfig } from "../../../../src/adapters/memory/config.ts";
import { AoError } from "../../../../src/domain/errors.ts";
import { anEmptySpawn, type SpawnPlan, spawnPlanned } from "../../../../src/lifecycle/configured-sessions.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { addProject, listProjects, requireProject } from "../../../../src/lifecycle/projects/projects.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import type { ConfiguredProject } from "../../../../src/ports/config.ts";
import { aProject, projectId, sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import { aWorld, type World } from "../../../support/world.ts";

const SHOP = "/repo/web-shop";
const NOTHING = { id: null, name: null, prefix: null, defaultBranch: null };

/** A world that also has the unregistered repository `/repo/web-shop`. */
function aWorldWithShop(): World {
  const world = aWorld();
  world.repositories.add({ path: SHOP, bare: false });
  return world;
}

/** A plan to spawn in the repository that is not registered. */
async function planned({ deps }: World, config: readonly ConfiguredProject[] = []): Promise<SpawnPlan> {
  const found = await requireProject(deps, { flag: null, cwd: SHOP, config });
  const settings = await memoryConfig({ defaultAgent: "memory" }).settingsFor(null, "worker");
  return { found, configured: config, kind: "worker", settings, agent: "memory", configPath: null };
}

const REQUEST = { ...anEmptySpawn, issueId: "42", requestId: "request-1" };
const projects = ({ deps }: World) => listProjects(deps).map(({ id }) => id);

describe("the first spawn in a repository", () => {
  test("registers it together with its beginning, also when two are the first", async () => {
    const world = aWorldWithShop();
    const plan = await planned(world);
    const seen: (readonly string[])[] = [];
    const boundary = async (name: string) => {
      if (name.startsWith("spawn.begin")) seen.push(projects(world));
    };
    const input = (issueId: string) => ({ ...anEmptySpawn, issueId });
    const both = await Promise.all([
      spawnPlanned({ deps: { ...world.deps, boundary } }, plan, input("1")),
      spawnPlanned(world, plan, input("2")),
    ]);
    expect(both.map(({ record }) => record.projectId)).toEqual(["web-shop", "web-shop"]);
    expect(seen[0]).toEqual(["app"]);
    expect(projects(world)).toEqual(["app", "web-shop"]);
  });

  test.each<[string, Parameters<typeof aProject>[0], string]>([
    ["finds it registered meanwhile", { id: "shop", repositoryPath: SHOP }, "shop"],
    ["takes the next id when its own was taken meanwhile", { id: "web-shop" }, "web-shop-2"],
  ])("%s", async (_name, overrides, expected) => {
    const world = aWorldWithShop();
    const plan = await planned(world);
    const boundary = async (name: string) => {
      if (name === "spawn.begin:before") world.deps.store.insertProject(aProject(overrides));
    };
    const { record } = await spawnPlanned({ deps: { ...world.deps, boundary } }, plan, REQUEST);
    expect(record.projectId).toBe(expected);
    expect(world.deps.store.projectOfRepository(SHOP)?.id).toBe(expected);
  });

  test("registers it again when another one forgot it meanwhile", async () => {
    const world = aWorldWithShop();
    await addProject(world.deps, { ...NOTHING, path: SHOP });
    const plan = await planned(world);
    let isDone = false;
    const boundary = async (name: string) => {
      if (name === "spawn.begin:before" && !isDone)
        isDone = world.deps.store.removeProject(projectId("web-shop"));
    };
    await spawnPlanned({ deps: { ...world.deps, boundary } }, plan, REQUEST);
    expect(projects(world)).toEqual(["app", "web-shop"]);
  });

  test("is refused when the configuration gives it the id of another repository", async () => {
    const world = aWorldWithShop();
    const taken = { ...NOTHING, id: projectId("app"), path: SHOP };
    const spawned = spawnPlanned(world, await planned(world, [taken]), REQUEST);
    await expect(spawned).rejects.toMatchObject({ code: "project_exists" });
    expect(world.deps.operations.unfinished().operations).toEqual([]);
  });

  test("forgets it again when it fails", async () => {
    const world = aWorldWithShop();
    world.workspace.failNext("create", new AoError("git_failed", "no luck"));
    await expect(spawnPlanned(world, await planned(world), REQUEST)).rejects.toMatchObject({
      code: "git_failed",
    });
    expect(projects(world)).toEqual(["app"]);
  });

  test.each(["an operation that cannot be read", "another spawn that is under way"])(
    "that fails keeps it beside %s",
    async (what) => {
      const world = aWorldWithShop();
      const plan = await planned(world);
      const unreadable = what.startsWith("an") ? [{ id: "damaged", sessionId: null, flaw: "state" }] : [];
      const unfinished = () => ({ ...world.deps.operations.unfinished(), unreadable });
      const stuck = new Promise<void>(() => undefined);
      const workspace = {
        ...world.deps.workspace,
        async create() {
          const boundary = (name: string) => (name === "spawn.planned:after" ? stuck : Promise.resolve());
          if (unreadable.length === 0) {
            void spawnPlanned({ deps: { ...world.deps, boundary } }, plan, { ...anEmptySpawn, issueId: "7" });
            await expect.poll(() => unfinished().operations).toHaveLength(2);
          }
          throw new AoError("git_failed", "no luck");
        },
      };
      const deps = { ...world.deps, workspace, operations: { ...world.deps.operations, unfinished } };
      await expect(spawnPlanned({ deps }, plan, REQUEST)).rejects.toMatchObject({ code: "git_failed" });
      expect(projects(world)).toEqual(["app", "web-shop"]);
    },
  );

  test("that was killed at any boundary leaves it registered only with a session, after one reconcile", async () => {
    for (let crashAt = 1; ; crashAt++) {
      const world = aWorldWithShop();
      const plan = await planned(world);
      const spawn = (deps: SessionDeps) => spawnPlanned({ deps }, plan, REQUEST);
      const { ending, crossed } = await inProcess(world, { crashAt }, spawn);
      if (ending.kind === "done") break;
      await inProcess(world, {}, reconcile);
      const hasRow = world.deps.store.get(sessionId("ws-1")) !== undefined;
      expect(projects(world), crossed.at(-1)).toEqual(hasRow ? ["app", "web-shop"] : ["app"]);
      await inProcess(world, {}, spawn);
      expect(projects(world), crossed.at(-1)).toEqual(["app", "web-shop"]);
      expect(world.deps.store.rows().sessions, crossed.at(-1)).toHaveLength(1);
    }
  });

  test("whose recovery is killed as well is taken back by the next, and a registration by a person stays", async () => {
    const world = aWorldWithShop();
    const plan = await planned(world);
    const spawn = (deps: SessionDeps) => spawnPlanned({ deps }, plan, REQUEST);
    await inProcess(world, { crashAt: 2 }, spawn);
    const { crossed } = await inProcess(world, { crashAt: 2 }, reconcile);
    expect(crossed).toEqual(["undo.project:before", "undo.project:after"]);
    world.clock.advance(1);
    await addProject(world.deps, { ...NOTHING, path: SHOP });
    await inProcess(world, {}, reconcile);
    expect(projects(world)).toEqual(["app", "web-shop"]);
  });
});
