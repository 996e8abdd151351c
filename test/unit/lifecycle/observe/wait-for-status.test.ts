import { describe, expect, test } from "vitest";
import { memoryClock } from "../../../../src/adapters/memory/clock.ts";
import type { Status } from "../../../../src/domain/status.ts";
import { waitForStatus } from "../../../../src/lifecycle/observe/wait-for-status.ts";
import { sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");

interface Waiting {
  readonly statuses: readonly Status[];
  /** What happens in the pauses, one after the other. */
  readonly steps?: readonly ((world: World) => unknown)[];
  readonly lookMs?: number;
  readonly isAborted?: boolean;
}

/** Waits for 1050 ms in a world whose clock says nothing of how time passes. */
async function waiting({ statuses, steps = [], lookMs = 0, isAborted = false }: Waiting) {
  const world = aWorld();
  await world.spawn();
  const controller = new AbortController();
  const left = [...steps];
  const passing = memoryClock(0);
  const clock = {
    ...world.clock,
    async sleep(ms: number, signal?: AbortSignal) {
      await passing.sleep(ms, signal);
      if (ms === 200 && signal?.aborted !== true) await left.shift()?.(world);
    },
  };
  const survey: typeof world.deps.runtime.survey = async (targets) => {
    if (lookMs > 0) await passing.sleep(lookMs);
    return world.deps.runtime.survey(targets);
  };
  if (isAborted) controller.abort();
  const deps = { ...world.deps, clock, runtime: { ...world.deps.runtime, survey } };
  const result = waitForStatus(deps, ID, { statuses, timeoutMs: 1_050, signal: controller.signal });
  return { world, result, passedMs: () => passing.nowMs() };
}

describe("waiting for a status", () => {
  test("ends with the session as it then is, and writes nothing", async () => {
    const steps = [
      (world: World) => world.hear(ID, "active"),
      (world: World) => world.hear(ID, "waiting_input"),
    ];
    const { world, result } = await waiting({ steps, statuses: ["idle", "needs_input"] });
    world.clearLog();
    expect((await result).lifecycle.session.state).toBe("needs_input");
    expect(world.log.filter((call) => !call.startsWith("runtime.look"))).toEqual([]);
  });

  test("does not wait when the status is there already", async () => {
    const { result, passedMs } = await waiting({ statuses: ["spawning"] });
    expect((await result).id).toBe(ID);
    expect(passedMs()).toBe(0);
  });

  test.each([
    ["however the clock jumps", 0, 1_050],
    ["also when a look takes long", 400, 1_450],
    ["also when one look takes longer than all of it", 5_000, 5_000],
  ])("is over after its time, %s", async (_when, lookMs, expectedMs) => {
    const steps = [-3_600_000, 7_200_000].map((ms) => (world: World) => world.clock.advance(ms));
    const { result, passedMs } = await waiting({ steps, statuses: ["idle"], lookMs });
    await expect(result).rejects.toMatchObject({
      code: "timeout",
      message: "app-1 did not become idle in time: it is spawning",
      details: { id: ID, status: "spawning" },
    });
    expect(passedMs()).toBe(expectedMs);
  });

  test("is refused once the session has ended another way", async () => {
    const { result } = await waiting({ steps: [(world) => world.kill(ID)], statuses: ["idle"] });
    await expect(result).rejects.toMatchObject({
      ...{ code: "not_running", hint: `ao restore ${ID}`, details: { status: "killed" } },
    });
  });

  test("a status of the end can be waited for", async () => {
    const { result } = await waiting({ steps: [(world) => world.kill(ID)], statuses: ["killed"] });
    expect((await result).lifecycle.session.state).toBe("terminated");
  });

  test("ends with its signal", async () => {
    const { result } = await waiting({ statuses: ["idle"], isAborted: true });
    await expect(result).rejects.toMatchObject({ code: "interrupted" });
  });

  test("knows no session that is none", async () => {
    const { deps } = aWorld();
    const options = { statuses: ["idle"] as const, timeoutMs: 1, signal: new AbortController().signal };
    await expect(waitForStatus(deps, ID, options)).rejects.toMatchObject({ code: "session_not_found" });
  });
});
