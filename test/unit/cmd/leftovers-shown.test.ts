import { expect, test } from "vitest";
import { AoError } from "../../../src/domain/errors.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld } from "../../support/world.ts";

test("what a failed spawn leaves is told to a person line by line, with the reason, and not as JSON", async () => {
  const world = aWorld();
  world.workspace.refuse("/data/worktrees/app/app-1");
  world.runtime.failNext("create", new AoError("agent_start_failed", "it exited with 7"));
  const { exitCode, stderr } = await memoryCli(world, ["spawn", "42"]);
  expect(exitCode).toBe(1);
  expect(stderr.split("\n").slice(1, 3)).toEqual([
    "  worktree /data/worktrees/app/app-1: 1 untracked file",
    "  branch feat/42: it is checked out there",
  ]);
  expect(stderr).not.toContain("{");
});
