import { expect, test } from "vitest";
import type { SessionId } from "../../../src/domain/ids.ts";
import { cleanupSessions } from "../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import { sessionId } from "../../support/builders.ts";
import { aWorld, type World } from "../../support/world.ts";

const STALE = sessionId("app-1");
const OWNER = sessionId("app-2");
const corrupt = {
  code: "store_corrupt",
  message: "the records of app-1 and app-2 name the same launch, and app-2 is live",
  hint: "ao show app-2",
};

/** Two sessions; the row of the first, ended or not, names the launch of the second. */
async function aWorldOfTwo({ ended }: { readonly ended: boolean }): Promise<World> {
  const world = aWorld();
  await world.spawn({ issueId: "1" });
  world.workspace.refuse("/data/worktrees/app/app-1");
  if (ended) await world.kill(STALE).catch(() => undefined);
  world.workspace.allow("/data/worktrees/app/app-1");
  await world.spawn({ issueId: "2" });
  const row = world.row(STALE);
  const metadata = { ...row.metadata, launchId: world.row(OWNER).metadata.launchId };
  world.deps.store.save({ ...row, metadata }, row.lifecycle.revision);
  world.clearLog();
  return world;
}

const destroyed = (world: World): readonly SessionId[] =>
  world.runtime.destroyed.slice(world.row(STALE).terminatedAtMs === null ? 0 : 1).map((one) => one.sessionId);

test.each([false, true])(
  "a kill of a session (over before: %s) whose row names the launch of a live one changes nothing",
  async (ended) => {
    const world = await aWorldOfTwo({ ended });
    const before = world.row(STALE);
    await expect(world.kill(STALE)).rejects.toMatchObject(corrupt);
    expect(world.row(STALE)).toEqual(before);
    expect(destroyed(world)).toEqual([]);
  },
);

test("so does a restore", async () => {
  const world = await aWorldOfTwo({ ended: true });
  await expect(world.restore(STALE)).rejects.toMatchObject(corrupt);
  expect(world.runtime.created).toHaveLength(2);
  expect(destroyed(world)).toEqual([]);
});

test.each([true, false])("a cleanup (dry run: %s) skips it as unknown", async (dryRun) => {
  const world = await aWorldOfTwo({ ended: true });
  const { skipped, cleaned } = await cleanupSessions(world.deps, {
    projectId: null,
    dryRun,
    olderThanMs: null,
  });
  expect(skipped).toEqual([{ id: STALE, projectId: "app", reason: "unknown", detail: corrupt.message }]);
  expect(cleaned).toEqual([]);
  expect(destroyed(world)).toEqual([]);
});

test("the session that has the launch is killed as ever", async () => {
  const world = await aWorldOfTwo({ ended: false });
  expect(await world.kill(OWNER)).toMatchObject({ id: OWNER, workspaceFreed: true });
  expect(destroyed(world)).toEqual([OWNER]);
});
