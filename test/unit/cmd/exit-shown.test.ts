import { describe, expect, test } from "vitest";
import { sessionId, T0_MS } from "../../support/builders.ts";
import { listSchema, showSchema } from "../../support/json-schemas.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld, type World } from "../../support/world.ts";

const ID = sessionId("app-1");

/** A world whose agent a look sees ended as given, at `T0_MS`. */
async function anEndedWorld(exitStatus: number | null, signal: string | null): Promise<World> {
  const world = aWorld();
  await world.spawn();
  await world.hear(ID, "active");
  const runtime = { kind: "exited", exitStatus, signal, atMs: T0_MS } as const;
  world.runtime.setLook(ID, { runtime, process: { kind: "dead" } });
  return world;
}

describe("an agent that ended", () => {
  test.each([
    ["with a status", 3, null, "status 3", "exit 3"],
    ["by a signal", null, "SIGKILL", "SIGKILL", "SIGKILL"],
  ])("%s shows that to people", async (_how, status, signal, shown, listed) => {
    const world = await anEndedWorld(status, signal);
    const { stdout: one } = await memoryCli(world, ["show", ID]);
    expect(one).toMatch(new RegExp(`^ {2}exit +${shown}, 2026-01-02T03:04:05.678Z$`, "m"));
    expect(one).toMatch(/^ {2}meaning +\S/m);
    const { stdout: all } = await memoryCli(world, ["list"]);
    expect(all).toMatch(new RegExp(`^app-1 +detecting \\(${listed}\\) +app `, "m"));
  });

  test("shows that to scripts, beside the substates that dashboards know", async () => {
    const world = await anEndedWorld(null, "SIGKILL");
    const exit = { status: null, signal: "SIGKILL", at: "2026-01-02T03:04:05.678Z" };
    const one = showSchema.parse(JSON.parse((await memoryCli(world, ["show", ID, "--json"])).stdout));
    expect(one).toMatchObject({ runtime: { exit }, lifecycle: { runtime: { state: "exited" } } });
    const all = listSchema.parse(JSON.parse((await memoryCli(world, ["list", "--json"])).stdout));
    expect(all.data[0]?.runtime?.exit).toEqual(exit);
  });
});

test("a running agent has no ending to show", async () => {
  const world = aWorld();
  await world.spawn();
  expect((await memoryCli(world, ["show", ID])).stdout).not.toMatch(/^ {2}exit/m);
  expect(JSON.parse((await memoryCli(world, ["show", ID, "--json"])).stdout).runtime.exit).toBeNull();
});
