import { expect, test } from "vitest";
import { heldBy } from "../../../../src/lifecycle/salvage/keep-and-free.ts";
import { workspaceRef } from "../../../../src/lifecycle/session-refs.ts";
import { aWorld } from "../../../support/world.ts";

test("a salvage holds what is in the worktree, and nothing once it was dropped", async () => {
  const world = aWorld();
  const record = await world.spawn();
  const workspace = workspaceRef(record);
  world.snapshots.work.write(workspace.path, "notes.txt", "mine\n");
  const kept = await world.snapshots.salvage({ workspace, reason: "kill", atMs: 1 });
  const ref = kept.kind === "kept" ? kept.ref : null;
  const isKept = heldBy(world.deps, workspace, ref);
  expect(await isKept?.()).toBe(true);
  await world.snapshots.drop(workspace.repositoryPath, String(ref));
  expect(await isKept?.()).toBe(false);
});
