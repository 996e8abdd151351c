import { describe, expect, test } from "vitest";
import { AoError } from "../../../../src/domain/errors.ts";
import {
  addProject,
  listProjects,
  removeProject,
  requireProject,
  resolveProject,
} from "../../../../src/lifecycle/projects/projects.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import type { ConfiguredProject } from "../../../../src/ports/config.ts";
import { aKilledSession, aProject, aSession, projectId } from "../../../support/builders.ts";
import { aSpawnRequest, aWorld, type World } from "../../../support/world.ts";

const NOTHING = { id: null, name: null, prefix: null, defaultBranch: null };

function aConfigured(overrides: Partial<ConfiguredProject> = {}): ConfiguredProject {
  const base = {
    id: projectId("web"),
    name: "Web",
    path: "/repo/web-shop",
    prefix: "w",
    defaultBranch: "trunk",
  };
  return { ...base, ...overrides };
}

/** A world that also has the unregistered repository `/repo/web-shop`. */
function aWorldWithShop(callerEnv: Record<string, string> = {}): World {
  const world = aWorld({ callerEnv });
  world.repositories.add({ path: "/repo/web-shop", bare: false });
  return world;
}

type Request = Parameters<typeof resolveProject>[1];

const requestOf = (overrides: Partial<Request>): Request => ({
  flag: null,
  cwd: "/elsewhere",
  config: [],
  ...overrides,
});

function resolve(world: World, overrides: Partial<Request> = {}) {
  return resolveProject(world.deps, requestOf(overrides));
}

describe("the project of a command", () => {
  test("is the one of the flag", async () => {
    const world = aWorldWithShop({ AO_PROJECT_ID: "nobody" });
    const found = await resolve(world, { flag: "app", cwd: "/repo/web-shop" });
    expect(found).toEqual({ project: world.project, stored: true });
  });

  test("is else the one of AO_PROJECT_ID", async () => {
    const world = aWorldWithShop({ AO_PROJECT_ID: "app" });
    expect((await resolve(world, { cwd: "/repo/web-shop" }))?.project.id).toBe("app");
  });

  test("is else the registered one of the repository around the working directory", async () => {
    const world = aWorldWithShop({ AO_PROJECT_ID: "" });
    expect(await resolve(world, { cwd: "/repo/app/src" })).toEqual({ project: world.project, stored: true });
  });

  test("is else that repository by itself, not stored by a mere look", async () => {
    const world = aWorldWithShop();
    const found = await resolve(world, { cwd: "/repo/web-shop/src" });
    expect(found).toMatchObject({
      stored: false,
      project: {
        id: "web-shop",
        name: "web-shop",
        repositoryPath: "/repo/web-shop",
        prefix: "ws",
        defaultBranch: null,
      },
    });
    expect(listProjects(world.deps)).toHaveLength(1);
  });

  test("gets another id when the folder's name is that of another project", async () => {
    const world = aWorld();
    world.repositories.add({ path: "/other/app", bare: false });
    const found = await resolve(world, { cwd: "/other/app" });
    expect(found?.project).toMatchObject({ id: "app-2", name: "app", prefix: "app" });
  });

  test("is called without .git after a bare repository", async () => {
    const world = aWorld();
    world.repositories.add({ path: "/srv/shop.git", bare: true });
    expect((await resolve(world, { cwd: "/srv/shop.git" }))?.project.id).toBe("shop");
  });

  test("is none outside of a repository, an error when one is needed", async () => {
    const world = aWorld();
    expect(await resolve(world)).toBeUndefined();
    const needed = requireProject(world.deps, requestOf({}));
    await expect(needed).rejects.toMatchObject({ code: "project_not_found" });
  });

  test.each([
    ["the flag", {}, { flag: "nobody" }],
    ["AO_PROJECT_ID", { AO_PROJECT_ID: "nobody" }, {}],
    ["a flag that is no name", {}, { flag: "$(touch x)\n" }],
  ])("is an error when %s names an unknown one", async (_name, env: Record<string, string>, request) => {
    await expect(resolve(aWorldWithShop(env), request)).rejects.toMatchObject({
      code: "project_not_found",
      details: { known: ["app"] },
    });
  });

  test("is unknown when git does not answer", async () => {
    const world = aWorld();
    world.repositories.failNext(new AoError("git_unavailable", "git is missing"));
    await expect(resolve(world)).rejects.toMatchObject({ code: "git_unavailable" });
  });
});

describe("a configured project", () => {
  const config = [aConfigured()];

  test.each([
    ["by the flag", { flag: "web" }],
    ["by the working directory", { cwd: "/repo/web-shop" }],
  ])("is found %s, with what the configuration says", async (_name, request) => {
    const world = aWorldWithShop();
    expect(await resolve(world, { ...request, config })).toMatchObject({
      stored: false,
      project: {
        id: "web",
        name: "Web",
        prefix: "w",
        defaultBranch: "trunk",
        repositoryPath: "/repo/web-shop",
      },
    });
    expect(listProjects(world.deps).map(({ id }) => id)).toEqual(["app"]);
  });

  test("derives what the configuration leaves open", async () => {
    const open = [aConfigured({ prefix: null, defaultBranch: null })];
    const found = await resolve(aWorldWithShop(), { flag: "web", config: open });
    expect(found?.project).toMatchObject({ prefix: "ws", defaultBranch: null });
  });

  test("outranks what is stored, but for the id: the repository is the identity", async () => {
    const world = aWorldWithShop();
    await addProject(world.deps, { ...NOTHING, path: "/repo/web-shop", id: "shop" });
    const found = await resolve(world, { flag: "web", config });
    expect(found?.project).toMatchObject({ id: "shop", name: "Web", prefix: "w", defaultBranch: "trunk" });
  });

  test("in no repository is an error that names the path", async () => {
    const lost = [aConfigured({ path: "/gone" })];
    await expect(resolve(aWorld(), { flag: "web", config: lost })).rejects.toMatchObject({
      code: "project_not_found",
      message: expect.stringContaining("/gone"),
    });
  });

  test("keeps its id from a repository that would derive the same", async () => {
    const world = aWorldWithShop();
    const reserving = [aConfigured({ id: projectId("web-shop"), path: "/repo/else" })];
    const found = await resolve(world, { cwd: "/repo/web-shop", config: reserving });
    expect(found?.project.id).toBe("web-shop-2");
  });
});

describe("a project named by the file in its repository", () => {
  const config = [aConfigured({ id: null, name: null, prefix: "w", defaultBranch: null })];

  test("has an id and a name from its folder, and the prefix of the file", async () => {
    expect((await resolve(aWorldWithShop(), { cwd: "/repo/web-shop", config }))?.project).toMatchObject({
      id: "web-shop",
      name: "web-shop",
      prefix: "w",
    });
  });

  test("keeps what is stored where the file is silent", async () => {
    const world = aWorldWithShop();
    await addProject(world.deps, { ...NOTHING, path: "/repo/web-shop", name: "The Shop" });
    const found = await resolve(world, { cwd: "/repo/web-shop", config });
    expect(found?.project).toMatchObject({ name: "The Shop", prefix: "w" });
  });

  test("is not found by a name it does not have", async () => {
    await expect(resolve(aWorldWithShop(), { flag: "null", config })).rejects.toMatchObject({
      code: "project_not_found",
      details: { known: ["app"] },
    });
  });
});

describe("adding a project", () => {
  test("registers the repository around the folder, with derived names", async () => {
    const world = aWorldWithShop();
    const project = await addProject(world.deps, { ...NOTHING, path: "/repo/web-shop/src" });
    expect(project).toMatchObject({ id: "web-shop", prefix: "ws", repositoryPath: "/repo/web-shop" });
    expect(world.deps.store.project(project.id)).toEqual(project);
  });

  test("takes chosen names", async () => {
    const chosen = {
      path: "/repo/web-shop",
      id: "shop",
      name: "The Shop",
      prefix: "sh",
      defaultBranch: "dev",
    };
    const { path: _, ...names } = chosen;
    expect(await addProject(aWorldWithShop().deps, chosen)).toMatchObject(names);
  });

  test.each([
    ["a repository that is registered", { path: "/repo/app" }, "project_exists"],
    ["an id that is taken", { path: "/repo/web-shop", id: "app" }, "project_exists"],
    ["a folder outside of a repository", { path: "/tmp" }, "usage"],
    ["an id that is none", { path: "/repo/web-shop", id: "../x" }, "usage"],
    ["an id that stands for all projects", { path: "/repo/web-shop", id: "every-project" }, "usage"],
    ["a prefix that is none", { path: "/repo/web-shop", prefix: "-rf" }, "usage"],
  ])("refuses %s", async (_name, request, code) => {
    const world = aWorldWithShop();
    await expect(addProject(world.deps, { ...NOTHING, ...request })).rejects.toMatchObject({ code });
    expect(listProjects(world.deps)).toEqual([world.project]);
  });
});

describe("removing a project", () => {
  test("forgets it; its sessions stay", async () => {
    const { deps, project } = aWorld();
    deps.store.insert(aKilledSession({ metadata: { workspaceFreedAtMs: 1 } }));
    expect(await removeProject(deps, "app")).toEqual(project);
    expect(listProjects(deps)).toEqual([]);
    expect(deps.store.list()).toHaveLength(1);
  });

  test.each([
    ["a session lives", aSession({ metadata: { workspaceFreedAtMs: 1 } })],
    ["a worktree stands", aKilledSession()],
  ])("is refused while %s", async (_name, record) => {
    const { deps } = aWorld();
    deps.store.insert(record);
    await expect(removeProject(deps, "app")).rejects.toMatchObject({
      code: "project_in_use",
      details: { sessions: ["app-1"] },
    });
    expect(listProjects(deps)).toEqual([aProject({ repositoryPath: "/repo/app" })]);
  });

  test("is refused while a session of it is on its way, with who is at it", async () => {
    const world = aWorld();
    const stuck = new Promise<void>(() => undefined);
    const boundary = async (name: string) => (name === "spawn.begin:after" ? stuck : undefined);
    void spawnSession({ ...world.deps, boundary }, aSpawnRequest(world.project));
    await expect.poll(() => world.deps.operations.unfinished().operations).toHaveLength(1);
    await expect(removeProject(world.deps, "app")).rejects.toMatchObject({
      code: "operation_in_progress",
      details: { kind: "spawn", holder: { command: expect.any(String) } },
    });
    expect(listProjects(world.deps)).toHaveLength(1);
  });

  test.each<[string, string | null, string]>([
    ["of nobody knows whom", null, "store_corrupt"],
    ["of a session that has no row", "app-7", "store_corrupt"],
    ["of a session of another project", "web-1", "removed"],
  ])("beside an operation %s that cannot be read: %s", async (_whose, of, outcome) => {
    const { deps } = aWorld();
    deps.store.insert(aKilledSession({ id: "web-1", projectId: "web", metadata: { workspaceFreedAtMs: 1 } }));
    const unreadable = [{ id: "damaged", sessionId: of, flaw: "state" }];
    const unfinished = () => ({ ...deps.operations.unfinished(), unreadable });
    const removal = removeProject({ ...deps, operations: { ...deps.operations, unfinished } }, "app");
    const told = await removal.then(
      () => "removed",
      (error) => error.code,
    );
    expect(told).toBe(outcome);
    expect(listProjects(deps)).toHaveLength(outcome === "removed" ? 0 : 1);
  });

  test("whose repository is gone waits for no worktree, which could not be freed any more", async () => {
    const { deps, repositories } = aWorld();
    repositories.delete("/repo/app");
    deps.store.insert(aKilledSession());
    await removeProject(deps, "app");
    expect(listProjects(deps)).toEqual([]);
  });

  test("whose repository is gone is refused while a session lives", async () => {
    const { deps, repositories } = aWorld();
    repositories.delete("/repo/app");
    deps.store.insert(aSession());
    await expect(removeProject(deps, "app")).rejects.toMatchObject({ code: "project_in_use" });
  });

  test.each(["nobody", "../x", ""])("of an unknown name (%j) says so", async (name) => {
    await expect(removeProject(aWorld().deps, name)).rejects.toMatchObject({ code: "project_not_found" });
  });
});
