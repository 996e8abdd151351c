import { describe, expect, test } from "vitest";
import type { Status } from "../../../src/domain/status.ts";
import { waitForStatus } from "../../../src/lifecycle/wait-for-status.ts";
import { sessionId } from "../../support/builders.ts";
import { aWorld, type World } from "../../support/world.ts";

const ID = sessionId("app-1");

/** A world whose session does something each time that somebody sleeps. */
async function waiting(steps: readonly ((world: World) => unknown)[], statuses: readonly Status[]) {
  const world = aWorld();
  await world.spawn();
  const controller = new AbortController();
  const left = [...steps];
  const slept: number[] = [];
  const clock = {
    ...world.clock,
    async sleep(ms: number) {
      slept.push(ms);
      world.clock.advance(ms);
      await left.shift()?.(world);
      if (steps.length === 0) controller.abort();
    },
  };
  const deps = { ...world.deps, clock };
  const result = waitForStatus(deps, ID, { statuses, timeoutMs: 1_050, signal: controller.signal });
  return { world, result, slept };
}

describe("waiting for a status", () => {
  test("ends with the session as it then is, and writes nothing", async () => {
    const steps = [
      (world: World) => world.hear(ID, "active"),
      (world: World) => world.hear(ID, "waiting_input"),
    ];
    const { world, result } = await waiting(steps, ["idle", "needs_input"]);
    world.clearLog();
    expect((await result).lifecycle.session.state).toBe("needs_input");
    expect(world.log.filter((call) => !call.startsWith("runtime.look"))).toEqual([]);
  });

  test("does not wait when the status is there already", async () => {
    const { result, slept } = await waiting([], ["spawning"]);
    expect((await result).id).toBe(ID);
    expect(slept).toEqual([]);
  });

  test("is over after its time, however the clock jumps", async () => {
    const { result, slept } = await waiting(
      [(world) => world.clock.advance(-3_600_000), (world) => world.clock.advance(7_200_000)],
      ["idle"],
    );
    await expect(result).rejects.toMatchObject({
      code: "timeout",
      details: { id: ID, status: "spawning" },
    });
    expect(slept.reduce((sum, ms) => sum + ms, 0)).toBe(1_050);
  });

  test("is refused once the session has ended another way", async () => {
    const { result } = await waiting([(world) => world.kill(ID)], ["idle"]);
    await expect(result).rejects.toMatchObject({ code: "not_running", details: { status: "killed" } });
  });

  test("a status of the end can be waited for", async () => {
    const { result } = await waiting([(world) => world.kill(ID)], ["killed"]);
    expect((await result).lifecycle.session.state).toBe("terminated");
  });

  test("ends with its signal", async () => {
    const { result } = await waiting([], ["idle"]);
    await expect(result).rejects.toMatchObject({ code: "interrupted" });
  });

  test("knows no session that is none", async () => {
    const { deps } = aWorld();
    const options = { statuses: ["idle"] as const, timeoutMs: 1, signal: new AbortController().signal };
    await expect(waitForStatus(deps, ID, options)).rejects.toMatchObject({ code: "session_not_found" });
  });
});
