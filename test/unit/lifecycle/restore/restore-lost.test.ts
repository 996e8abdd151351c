import { describe, expect, test } from "vitest";
import { memoryConfig } from "../../../../src/adapters/memory/config.ts";
import { deriveStatus } from "../../../../src/domain/status.ts";
import { restoreLost } from "../../../../src/lifecycle/restore/restore-lost.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

/** A world after a reboot: the server and every process are gone, and so is the boot they were of. */
async function rebooted(count: number, before: (world: World) => Promise<unknown> = async () => undefined) {
  const world = aWorld();
  for (let number = 0; number < count; number += 1) await world.spawn({ issueId: `i${number}` });
  await before(world);
  for (const { id } of world.deps.store.list()) world.runtime.loseRuntime(id);
  world.clock.advance(120_000);
  const self = { process: world.processes.add({ command: "ao" }), command: "ao" };
  const slept: number[] = [];
  const clock = {
    ...world.clock,
    sleep: async (ms: number) => {
      slept.push(ms);
    },
  };
  const deps = { ...world.deps, self, clock };
  const ao = { deps, cwd: "/repo/app", config: async () => memoryConfig() };
  const controller = new AbortController();
  const tried: string[] = [];
  const restore = (onStep?: (id: string) => void) =>
    restoreLost(ao, {
      spacingMs: 700,
      signal: controller.signal,
      onStep: (id) => {
        tried.push(id);
        onStep?.(id);
      },
    });
  return { world, restore, slept, tried, controller };
}

const idsOf = (records: readonly { readonly id: string }[]) => records.map(({ id }) => id);

describe("restoring what was lost", () => {
  test("brings every session back, oldest first, with a pause between two", async () => {
    const { world, restore, slept } = await rebooted(3);
    const { restored, failed, left } = await restore();
    expect(idsOf(restored.map(({ record }) => record))).toEqual(["app-1", "app-2", "app-3"]);
    expect([failed, left]).toEqual([[], []]);
    expect(slept.filter((ms) => ms === 700)).toHaveLength(2);
    expect(world.deps.store.list().map(({ lifecycle }) => deriveStatus(lifecycle))).toEqual(
      Array.from({ length: 3 }, () => "spawning"),
    );
  });

  test("leaves alone what a person ended, and what was freed", async () => {
    const { restore, tried } = await rebooted(2, (world) => world.kill(sessionId("app-1")));
    await restore();
    expect(tried).toEqual(["app-2"]);
  });

  test("a second time there is nothing left to do", async () => {
    const { restore } = await rebooted(2);
    await restore();
    expect(await restore()).toEqual({ restored: [], failed: [], left: [] });
  });

  test("one that fails is told, and the next is tried", async () => {
    const { world, restore } = await rebooted(3);
    world.runtime.failNext("create", new Error("no luck"));
    const { restored, failed, left } = await restore();
    expect(idsOf(failed)).toEqual(["app-1"]);
    expect(failed[0]?.message).toMatch(/no luck/);
    expect(idsOf(restored.map(({ record }) => record))).toEqual(["app-2", "app-3"]);
    expect(left).toEqual([]);
  });

  test("three failures in a row are the end, and what was not tried is named", async () => {
    const { world, restore, tried } = await rebooted(6);
    const { restored, failed, left } = await restore((id) => {
      if (id !== "app-2") world.runtime.failNext("create", new Error("no luck"));
    });
    expect(idsOf(restored.map(({ record }) => record))).toEqual(["app-2"]);
    expect(idsOf(failed)).toEqual(["app-1", "app-3", "app-4", "app-5"]);
    expect(left).toEqual(["app-6"]);
    expect(tried).not.toContain("app-6");
  });

  test("a signal stops before the next", async () => {
    const { restore, controller } = await rebooted(3);
    const { restored, left } = await restore(() => controller.abort());
    expect(idsOf(restored.map(({ record }) => record))).toEqual(["app-1"]);
    expect(left).toEqual(["app-2", "app-3"]);
  });
});
