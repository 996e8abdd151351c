import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitRepository } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { failure, gitDirOf, gitWrapper, worktreeWorld } from "./worktree-world.ts";

/** A worktree whose folder is gone, and whose record another process has begun to drop. */
async function halfDropped(options: { readonly gitPath?: string } = {}) {
  const world = worktreeWorld(gitRepository(), options);
  const { path } = await world.workspace.create(world.spec());
  const gitDir = gitDirOf(path);
  rmSync(path, { recursive: true });
  rmSync(join(gitDir, "logs", "HEAD"));
  return { ...world, gitDir };
}

test("a record that another process is just dropping is no reason to refuse", async () => {
  const asked = join(tempDir(), "asked");
  const gitPath = gitWrapper(`case " $* " in *" --git-dir="*) : >'${asked}';; esac`);
  const { workspace, spec, gitDir } = await halfDropped({ gitPath });
  const freeing = workspace.destroy(spec());
  // By now it is looked at.
  await expect.poll(() => existsSync(asked), { timeout: 20_000, interval: 1 }).toBe(true);
  expect(existsSync(gitDir)).toBe(true);
  rmSync(gitDir, { recursive: true, force: true });
  await freeing;
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
