import { describe, expect, test } from "vitest";
import { isAoError } from "../../../src/domain/errors.ts";
import type { SessionDeps } from "../../../src/lifecycle/deps.ts";
import { forkSession } from "../../../src/lifecycle/forks/fork-session.ts";
import { reconcile } from "../../../src/lifecycle/recovery/reconcile.ts";
import { type CrashOptions, inProcess } from "../../support/crashing.ts";
import type { World } from "../../support/world.ts";
import { aForkRequest, aSourceWorld, SOURCE, tracesOf } from "./memory-driver.ts";

const fork = (world: World) => (deps: SessionDeps) =>
  forkSession(deps, SOURCE, aForkRequest(world, { requestId: "request-1", prompt: "go on" }));

async function killed(world: World, options: CrashOptions): Promise<string | null> {
  const { ending } = await inProcess(world, options, fork(world));
  return ending.kind === "crashed" ? ending.at : null;
}

const tick = (world: World, options: CrashOptions = {}) => inProcess(world, options, reconcile);

/** What a repeat under the request id comes to: the session, or the code of the error. */
async function repeat(world: World): Promise<string> {
  const { ending } = await inProcess(world, {}, fork(world));
  if (ending.kind === "done") return ending.result.record.id;
  if (ending.kind === "failed" && isAoError(ending.error)) return ending.error.code;
  throw new Error(JSON.stringify(ending));
}

async function expectSettled(world: World): Promise<void> {
  const { ending } = await tick(world);
  expect(ending).toMatchObject({ kind: "done", result: { errors: [], orphans: [] } });
  expect(world.deps.operations.unfinished()).toEqual({ operations: [], unreadable: [] });
  expect(world.agent.forks.length).toBeLessThanOrEqual(1);
  expect((await tracesOf(world)).orphans).toEqual([]);
  const first = await repeat(world);
  expect(await repeat(world)).toBe(first);
  const { sessions, orphans } = await tracesOf(world);
  expect({ sessions, orphans }).toEqual({ sessions: first === "fork_unknown" ? 0 : 1, orphans: [] });
  expect(world.agent.forks.length).toBeLessThanOrEqual(1);
}

describe("a fork that is killed", () => {
  test("at any boundary makes at most one conversation, one session or none, and leaves nothing", async () => {
    let boundaries = 0;
    for (let crashAt = 1; ; crashAt += 1) {
      const world = await aSourceWorld();
      const at = await killed(world, { crashAt });
      if (at === null) break;
      boundaries += 1;
      await expectSettled(world).catch((error: unknown) => {
        throw new Error(`killed at ${at}`, { cause: error });
      });
    }
    expect(boundaries).toBeGreaterThan(20);
  });

  test("at one of its boundaries, and its recovery at any, is settled by the next", async () => {
    for (let crashAt = 1; ; crashAt += 4) {
      const world = await aSourceWorld();
      if ((await killed(world, { crashAt })) === null) return;
      await sweepRecovery(crashAt);
    }
  });
});

async function sweepRecovery(crashAt: number): Promise<void> {
  for (let again = 1; ; again += 1) {
    const world = await aSourceWorld();
    const at = await killed(world, { crashAt });
    const { ending } = await tick(world, { crashAt: again });
    if (ending.kind !== "crashed") return;
    await expectSettled(world).catch((error: unknown) => {
      throw new Error(`killed at ${at} and ${ending.at}`, { cause: error });
    });
  }
}
