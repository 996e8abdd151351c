import { expect, test } from "vitest";
import { memoryClock } from "../../../src/adapters/memory/clock.ts";
import type { SessionDeps } from "../../../src/lifecycle/deps.ts";
import { reconcile } from "../../../src/lifecycle/recovery/reconcile.ts";
import { restoreSession } from "../../../src/lifecycle/restore/restore-session.ts";
import { spawnSession } from "../../../src/lifecycle/spawn/spawn-session.ts";
import { sessionId } from "../../support/builders.ts";
import { aSpawnRequest, aWorld, type World } from "../../support/world.ts";

const ID = sessionId("app-1");
const LONGER_THAN_A_LEASE_MS = 31_000;

/** A process that stands still at a boundary until another one took back what it did. */
function overtakenAt(world: World, at: string): SessionDeps {
  const { deps, clock, processes } = world;
  const self = { process: processes.add({ command: "ao" }), command: "ao reconcile" };
  const later = memoryClock(clock.nowMs() + LONGER_THAN_A_LEASE_MS);
  const other = { ...deps, self, clock: later };
  let isMet = false;
  return {
    ...deps,
    boundary: async (name) => {
      if (name !== at || isMet) return;
      isMet = true;
      expect((await reconcile(other)).operations).toMatchObject([{ outcome: "undone" }]);
    },
  };
}

const launchFiles = ({ files }: World) => files.paths().filter((path) => path.startsWith("/data/launch/"));

test("a spawn that was taken back while it stood still writes no prompt any more", async () => {
  const world = aWorld();
  const deps = overtakenAt(world, "spawn.launch.files:before");
  await expect(spawnSession(deps, aSpawnRequest(world.project))).rejects.toMatchObject({
    code: "operation_in_progress",
  });
  expect(launchFiles(world)).toEqual([]);
});

test("a restore that was taken back while it stood still writes no prompt any more", async () => {
  const world = aWorld();
  await world.spawn();
  await world.kill(ID);
  const before = launchFiles(world);
  const deps = overtakenAt(world, "restore.launch.files:before");
  await expect(restoreSession(deps, ID, { fresh: true, settings: world.settings })).rejects.toMatchObject({
    code: "operation_in_progress",
  });
  expect(launchFiles(world)).toEqual(before);
});
