import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitRepository } from "../../../support/git-repository.ts";
import { failure, gitDirOf, worktreeWorld } from "./worktree-world.ts";

/** A worktree whose folder is gone, and whose record another process has begun to drop. */
async function halfDropped() {
  const world = worktreeWorld(gitRepository());
  const { path } = await world.workspace.create(world.spec());
  const gitDir = gitDirOf(path);
  rmSync(path, { recursive: true });
  rmSync(join(gitDir, "logs", "HEAD"));
  return { ...world, gitDir };
}

test("a record that another process is just dropping is no reason to refuse", async () => {
  const { workspace, spec, gitDir } = await halfDropped();
  setTimeout(() => rmSync(gitDir, { recursive: true, force: true }), 300);
  await workspace.destroy(spec());
  expect(existsSync(gitDir)).toBe(false);
});

test("one that stays as it is keeps what it has", async () => {
  const { workspace, spec, gitDir } = await halfDropped();
  const { details } = await failure(workspace.destroy(spec()), "workspace_dirty");
  expect(details["findings"]).toMatchObject([
    { kind: "missing" },
    { kind: "unreadable", items: ["its log of HEAD is missing"] },
  ]);
  expect(existsSync(gitDir)).toBe(true);
});
