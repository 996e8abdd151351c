import { describe, expect, test } from "vitest";
import { sessionId } from "../../support/builders.ts";
import { showSchema } from "../../support/json-schemas.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld, type World } from "../../support/world.ts";

const ID = sessionId("app-1");
const shown = async (world: World, ...flags: readonly string[]) =>
  showSchema.parse(JSON.parse((await memoryCli(world, ["show", ID, "--json", ...flags])).stdout));
const line = async (world: World, name: string) =>
  new RegExp(`^ {2}${name} +(.*)$`, "m").exec((await memoryCli(world, ["show", ID])).stdout)?.[1];

test("show names the command that shows its terminal, and --json what that runs", async () => {
  const world = aWorld();
  await world.spawn();
  expect(await line(world, "attach")).toBe(`ao attach ${ID}`);
  expect((await shown(world)).runtime?.attach?.length).toBeGreaterThan(1);
});

describe("an agent that has said nothing", () => {
  test("is shown as such from 90 s after its start on, until it speaks", async () => {
    const world = aWorld();
    await world.spawn();
    const began = world.clock.nowMs();
    world.clock.advance(89_999);
    expect((await shown(world)).facts.silentSince).toBeNull();
    expect(await line(world, "activity")).toBeUndefined();
    world.clock.advance(1);
    const since = new Date(began).toISOString();
    expect((await shown(world)).facts).toMatchObject({
      silentSince: since,
      activity: { state: null, source: "none", confidence: "none", at: null },
      runtime: { state: "alive", source: "runtime" },
    });
    expect(await line(world, "activity")).toBe(`no signal since its start, ${since}`);
    await world.hear(ID, "active");
    expect((await shown(world)).facts).toMatchObject({
      silentSince: null,
      session: { state: "working", source: "hook" },
      activity: { state: "active", source: "hook", confidence: "high" },
    });
    expect(await line(world, "status")).toBe("working (task_in_progress) [hook]");
    expect((await shown(world, "--stored")).facts.silentSince).toBe(since);
  });

  test("has its 90 s again after a restore", async () => {
    const world = aWorld();
    await world.spawn();
    await world.kill(ID);
    world.clock.advance(3_600_000);
    await world.restore(ID);
    world.clock.advance(89_999);
    expect((await shown(world)).facts.silentSince).toBeNull();
    world.clock.advance(1);
    expect((await shown(world)).facts.silentSince).not.toBeNull();
  });
});

test("what only the terminal tells is shown with low confidence", async () => {
  const world = aWorld({ capabilities: { hooks: false } });
  await world.spawn();
  const runtime = { kind: "alive", lastOutputAtMs: world.clock.nowMs() } as const;
  world.runtime.setLook(ID, { runtime, process: { kind: "alive" } });
  expect(await line(world, "activity")).toMatch(/^active, .* \[runtime, low confidence\]$/);
});
