import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProjectId, SessionId } from "../../../../src/domain/ids.ts";
import { removeProject } from "../../../../src/lifecycle/projects/projects.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import { aProject } from "../../../support/builders.ts";
import { type CrashOptions, inProcess } from "../../../support/crashing.ts";
import { GIT_ENV } from "../../../support/git-repository.ts";
import { aSpawnRequest, aWorld } from "../../../support/world.ts";
import { anOperationId, failure, filesBelow, worktreeWorld } from "./worktree-world.ts";

const ID = "real-1" as SessionId;

/** A world whose worktrees are real, and a spawn in a real repository. */
function realWorld() {
  const { repository, workspace, dataDir, managedRoot } = worktreeWorld();
  const twins = aWorld({ callerEnv: GIT_ENV });
  const world = { ...twins, deps: { ...twins.deps, workspace, dataDir } };
  const project = aProject({ id: "real" as ProjectId, prefix: "real", repositoryPath: repository.path });
  world.deps.store.insertProject(project);
  const spawn = (options: CrashOptions) =>
    inProcess(world, options, (deps) => spawnSession(deps, aSpawnRequest(project)));
  return { deps: world.deps, repository, path: join(managedRoot, "real", ID), project, spawn };
}

/** A spawn that was killed at a boundary, and whose repository was deleted then. */
async function orphanedAt(boundary: string) {
  const { crossed } = await realWorld().spawn({});
  const world = realWorld();
  const { ending } = await world.spawn({ crashAt: crossed.indexOf(boundary) + 1 });
  expect(ending).toEqual({ kind: "crashed", at: boundary });
  expect(world.deps.operations.unfinished().operations).toHaveLength(1);
  rmSync(world.repository.path, { recursive: true });
  return world;
}

describe("an unfinished spawn whose repository is gone", () => {
  test.each([
    ["spawn.planned:after", false],
    ["spawn.workspace.create:after", true],
    ["spawn.created:after", true],
  ])("killed at %s is ended by reconcile, and its project can be forgotten", async (boundary, isLeft) => {
    const { deps, path, project } = await orphanedAt(boundary);
    const { errors } = await reconcile(deps);
    expect(errors).toEqual([]);
    expect(deps.operations.unfinished().operations).toEqual([]);
    const [operation] = deps.operations.ofSession(ID, 1).operations;
    const worktree = { what: "worktree", where: path, why: expect.stringContaining("repository") };
    const result = isLeft ? { left: expect.arrayContaining([expect.objectContaining(worktree)]) } : null;
    expect(operation?.state).toMatchObject({ kind: "failed", result });
    expect(existsSync(path)).toBe(isLeft);
    await removeProject(deps, project.id);
    expect((await reconcile(deps)).errors).toEqual([]);
  });
});

describe("without its repository", () => {
  async function made(cut: (path: string) => void) {
    const world = worktreeWorld();
    const spec = world.spec({ operationId: anOperationId() });
    const plan = await world.workspace.plan(spec);
    const created = await world.workspace.create(spec, plan);
    rmSync(world.repository.path, { recursive: true });
    cut(spec.path);
    return { ...world, spec, plan, created };
  }

  test.each<[string, (path: string) => void]>([
    ["nothing", (path) => rmSync(path, { recursive: true })],
    ["an empty folder", (path) => readdirSync(path).map((name) => rmSync(join(path, name)))],
    ["nothing but a link to it", (path) => rmSync(join(path, "readme.md"))],
  ])("%s is taken back whole", async (_what, cut) => {
    const { workspace, spec, plan, dataDir } = await made(cut);
    await workspace.discard(spec, plan);
    await workspace.discard(spec, plan);
    expect(filesBelow(dataDir).filter((name) => name.includes("app"))).toEqual([]);
  });

  test.each<[string, (path: string) => void]>([
    ["files", () => undefined],
    [
      "another repository",
      (path) => {
        for (const name of readdirSync(path)) rmSync(join(path, name));
        mkdirSync(join(path, ".git"));
      },
    ],
  ])("%s stay and are named", async (_what, cut) => {
    const { workspace, spec, plan } = await made(cut);
    const before = filesBelow(spec.path);
    const { message } = await failure(workspace.discard(spec, plan), "workspace_dirty");
    expect(message).toContain(spec.path);
    expect(filesBelow(spec.path)).toEqual(before);
  });

  test("there are no branches to be undone, and what is gone already is no trouble", async () => {
    const { workspace, spec, created } = await made((path) => rmSync(path, { recursive: true }));
    expect(await workspace.undoCreate(spec, created)).toEqual([]);
  });
});
