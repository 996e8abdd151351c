import { describe, expect, test } from "vitest";
import { toJson } from "../../../../src/domain/canonical-json.ts";
import { AoError } from "../../../../src/domain/errors.ts";
import { forkStatus } from "../../../../src/domain/fork.ts";
import type { TurnId } from "../../../../src/domain/ids.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { forkSession } from "../../../../src/lifecycle/forks/fork-session.ts";
import { recoverOperations } from "../../../../src/lifecycle/recovery/recover-operations.ts";
import { requireSession, workspaceRef } from "../../../../src/lifecycle/session-refs.ts";
import {
  aForkRequest,
  aSourceWorld,
  operationsOf,
  SOURCE,
  tracesOf,
} from "../../../conformance/forks/memory-driver.ts";
import { sessionId } from "../../../support/builders.ts";
import { inProcess } from "../../../support/crashing.ts";
import type { World } from "../../../support/world.ts";

const FORK = sessionId("app-2");
const REQUEST = "request-1";

/** Forks in an environment of its own, and is killed at that boundary, or not at all. */
async function forkUntil(world: World, crashAtBoundary?: string): Promise<void> {
  const settings = { ...world.settings, env: { PROJECT_TOKEN: "secret-of-the-project" } };
  const callerEnv = { ...world.deps.callerEnv, CALLER_TOKEN: "secret-of-the-caller" };
  const options = crashAtBoundary === undefined ? {} : { crashAtBoundary };
  const { ending } = await inProcess(world, options, (deps: SessionDeps) =>
    forkSession({ ...deps, callerEnv }, SOURCE, aForkRequest(world, { requestId: REQUEST, settings })),
  );
  if (ending.kind === "failed") throw ending.error;
}

const kept = (world: World) => world.files.paths().filter((path) => path.endsWith("/asked-environment"));
const operation = (world: World) => {
  const found = operationsOf(world).find(({ subject }) => subject === REQUEST);
  if (found === undefined) throw new Error("there is no fork");
  return found;
};

describe("the environment that a fork was asked for in", () => {
  test.each(["fork.frozen:after", "fork.created:after", "fork.accepted:after", undefined])(
    "is its agent's also when it was killed at %s and another command goes on, and is in no record",
    async (boundary) => {
      const world = await aSourceWorld();
      await forkUntil(world, boundary);
      expect(JSON.stringify(operationsOf(world).map(toJson))).not.toContain("secret-of");
      expect(kept(world)).toHaveLength(boundary === undefined ? 0 : 1);
      await recoverOperations({ ...world.deps, callerEnv: { PATH: "/cron" } });
      const started = world.runtime.created.find((spec) => spec.sessionId === FORK);
      expect(started?.env).toMatchObject({
        PROJECT_TOKEN: "secret-of-the-project",
        CALLER_TOKEN: "secret-of-the-caller",
      });
      expect(kept(world)).toEqual([]);
      expect(await tracesOf(world)).toEqual({ sessions: 1, orphans: [] });
    },
  );

  test("ends the fork as failed when it is lost before its agent ran", async () => {
    const world = await aSourceWorld();
    await forkUntil(world, "fork.accepted:after");
    for (const path of kept(world)) await world.files.removeTree(path);
    expect((await recoverOperations(world.deps)).errors).toEqual([]);
    expect(operation(world).state).toMatchObject({ kind: "failed", error: { code: "fork_failed" } });
    expect(await tracesOf(world)).toEqual({ sessions: 0, orphans: [] });
  });
});

test("a fork that its agent has made is tried 24 times, then given up, taken back and its conversation named", async () => {
  const world = await aSourceWorld();
  await forkUntil(world, "fork.accepted:after");
  for (let tries = 2; tries <= 24; tries += 1) {
    expect(forkStatus(operation(world))).toBe("provider_accepted");
    world.failNext("store.insert", new AoError("store_busy", "locked"));
    world.clock.advance(24 * 3_600_000);
    await recoverOperations(world.deps);
    expect(operation(world).attempt).toBe(tries);
  }
  const { state } = operation(world);
  expect(state).toMatchObject({ kind: "failed", error: { code: "store_busy" } });
  const [asked, ...more] = world.agent.forks;
  expect(more).toEqual([]);
  expect(state).toMatchObject({ result: { agentSessionId: asked?.launch.agentSessionId } });
  expect(await tracesOf(world)).toEqual({ sessions: 0, orphans: [] });
  expect(kept(world)).toEqual([]);
});

describe("what another data directory keeps under the name that a fork gets", () => {
  /** A salvage and a checkpoint of a session called as the fork will be, made on a branch of its own. */
  async function worldOfTwo() {
    const world = await aSourceWorld();
    const workspace = { ...workspaceRef(requireSession(world.deps, SOURCE)), sessionId: FORK };
    world.snapshots.work.write(workspace.path, "only-copy.txt", "a week of work\n");
    await world.snapshots.salvage({ workspace, reason: "rewind", atMs: 1 });
    world.snapshots.work.write(workspace.path, "only-copy.txt", null);
    await world.snapshots.take(workspace, "t-other" as TurnId, "end");
    return { world, remembered: () => rememberedOf(world) };
  }
  const rememberedOf = async ({ snapshots }: World) => ({
    salvages: (await snapshots.list("/repo/app", FORK)).map(({ ref }) => ref),
    checkpoints: (await snapshots.checkpoints("/repo/app", FORK)).map(({ turnId }) => turnId),
  });

  test.each([undefined, "fork.frozen:after", "fork.created:after", "fork.files:after"])(
    "stays with a fork that succeeds, killed at %s",
    async (boundary) => {
      const { world, remembered } = await worldOfTwo();
      const before = await remembered();
      await forkUntil(world, boundary);
      await recoverOperations(world.deps);
      const after = await remembered();
      expect(after.salvages).toEqual(before.salvages);
      expect(after.checkpoints).toEqual(expect.arrayContaining(before.checkpoints));
    },
  );

  test("stays with a fork that is taken back", async () => {
    const { world, remembered } = await worldOfTwo();
    const before = await remembered();
    await forkUntil(world, "fork.accepted:after");
    for (const path of kept(world)) await world.files.removeTree(path);
    await recoverOperations(world.deps);
    expect(operation(world).state).toMatchObject({ kind: "failed" });
    expect(await remembered()).toEqual(before);
  });
});
