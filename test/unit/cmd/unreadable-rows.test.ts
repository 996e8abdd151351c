import { describe, expect, test } from "vitest";
import { AoError } from "../../../src/domain/errors.ts";
import { sessionId } from "../../support/builders.ts";
import { cleanupSchema, doctorSchema, listSchema } from "../../support/json-schemas.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld, type World } from "../../support/world.ts";

/** Sessions app-1 and app-2; the row of the second cannot be read. */
async function aSpoiledWorld(): Promise<World> {
  const world = aWorld();
  await world.spawn();
  await world.spawn({ issueId: "43" });
  world.spoil(sessionId("app-2"));
  return world;
}

async function storeCheck(world: World) {
  const { stdout, exitCode } = await memoryCli(world, ["doctor", "--json"]);
  const { checks } = doctorSchema.parse(JSON.parse(stdout));
  return { exitCode, ...checks.find(({ name }) => name === "store") };
}

describe("a session whose row cannot be read", () => {
  test("is named in a warning of the list, which shows all others", async () => {
    const { exitCode, stdout, stderr } = await memoryCli(await aSpoiledWorld(), ["list"]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^app-1 /m);
    expect(stdout).not.toContain("app-2");
    expect(stderr).toContain(
      "warning: session app-2 is not shown: its row in the store cannot be read (metadata.branch)\n",
    );
  });

  test("is a member of the list as JSON, and nothing is said on stderr", async () => {
    const { exitCode, stdout, stderr } = await memoryCli(await aSpoiledWorld(), ["status", "--json"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const { data, meta } = listSchema.parse(JSON.parse(stdout));
    expect(data.map(({ id }) => id)).toEqual(["app-1"]);
    expect(meta.unreadable).toEqual([{ id: "app-2", why: "metadata.branch" }]);
  });

  test("alone is not taken for no session at all", async () => {
    const world = await aSpoiledWorld();
    world.spoil(sessionId("app-1"));
    const { stderr } = await memoryCli(world, ["list"]);
    expect(stderr).not.toContain("no sessions yet");
  });

  test.each(["show", "output", "kill", "restore"])("is store_corrupt for %s of it", async (command) => {
    const { exitCode, stderr } = await memoryCli(await aSpoiledWorld(), [command, "app-2", "--json"]);
    expect(exitCode).toBe(5);
    const { error } = JSON.parse(stderr);
    expect(error.code).toBe("store_corrupt");
    expect(error.message).toContain("app-2 (metadata.branch)");
  });

  test("fails the doctor's check of the store, by name", async () => {
    expect(await storeCheck(await aSpoiledWorld())).toMatchObject({
      exitCode: 1,
      status: "fail",
      detail: "1 of 2 sessions cannot be read: app-2 (metadata.branch)",
    });
  });

  test("is an error of a cleanup with exit code 1", async () => {
    const { exitCode, stdout } = await memoryCli(await aSpoiledWorld(), ["cleanup", "--json"]);
    expect(exitCode).toBe(1);
    expect(cleanupSchema.parse(JSON.parse(stdout)).errors).toMatchObject([{ id: "app-2", projectId: "app" }]);
  });

  test("hides no other one from completion", async () => {
    const { stdout } = await memoryCli(await aSpoiledWorld(), ["__complete", "--", "kill", ""]);
    expect(stdout).toMatch(/^app-1\t[^\n]*\n$/);
  });
});

test("a store that is damaged anywhere fails the doctor's check of it", async () => {
  const world = await aSpoiledWorld();
  world.failNext(
    "store.verify",
    new AoError("store_corrupt", "the database is damaged", { hint: "a backup" }),
  );
  const failed = { status: "fail", detail: "the database is damaged", fix: "a backup" };
  expect(await storeCheck(world)).toMatchObject(failed);
});
