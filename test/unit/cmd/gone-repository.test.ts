import { describe, expect, test } from "vitest";
import { doctorSchema, projectListSchema, projectSchema } from "../../support/json-schemas.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld, type World } from "../../support/world.ts";

/** A project with a session that ended and kept its worktree, and whose repository was deleted since. */
async function aGoneWorld(): Promise<World> {
  const world = aWorld();
  const { id } = await world.spawn();
  await memoryCli(world, ["kill", id, "--keep-worktree"]);
  world.repositories.delete("/repo/app");
  return world;
}

describe("a project whose repository was deleted", () => {
  test("is marked in the list and when it is shown", async () => {
    const world = await aGoneWorld();
    const list = await memoryCli(world, ["project", "list", "--json"]);
    expect(projectListSchema.parse(JSON.parse(list.stdout)).data).toMatchObject([
      { id: "app", repositoryExists: false },
    ]);
    expect((await memoryCli(world, ["project", "list"])).stdout).toContain("/repo/app (gone)\n");
    const shown = await memoryCli(world, ["project", "show", "app", "--json"]);
    expect(projectSchema.parse(JSON.parse(shown.stdout)).repositoryExists).toBe(false);
    expect((await memoryCli(aWorld(), ["project", "show", "app"])).stdout).toMatch(/\/repo\/app\n/);
  });

  test("is a warning of the doctor, with the way to forget it", async () => {
    const { stdout, exitCode } = await memoryCli(await aGoneWorld(), ["doctor", "--json"]);
    expect(exitCode).toBe(0);
    expect(doctorSchema.parse(JSON.parse(stdout)).checks).toContainEqual({
      name: "projects",
      status: "warn",
      detail: "the repository of app is gone: /repo/app",
      fix: "put it back where it was, or forget it: ao project remove app",
    });
  });

  test("can be removed, with the worktree still there", async () => {
    const world = await aGoneWorld();
    expect(await memoryCli(world, ["project", "remove", "app"])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(world.workspace.exists("/data/worktrees/app/app-1")).toBe(true);
    expect((await memoryCli(world, ["list", "-a"])).stdout).toMatch(/^app-1 /m);
  });
});
