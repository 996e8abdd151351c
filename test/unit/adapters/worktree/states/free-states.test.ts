import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { worktreeSnapshot } from "../../../../support/tree-snapshot.ts";
import { statesBy, WORKTREE_STATES } from "../../../../support/worktree-states.ts";
import { failure } from "../worktree-world.ts";
import { inState } from "./state-world.ts";

const free = statesBy(({ reason }) => reason === null);
const refused = statesBy(({ reason }) => reason === "unsafe_path");

test("the table has every state once, at least forty, each with the one answer it needs", () => {
  const names = new Set(WORKTREE_STATES.map(({ name }) => name));
  expect(names.size).toBe(WORKTREE_STATES.length);
  expect(names.size).toBeGreaterThanOrEqual(40);
  const kept = statesBy(({ finds }) => finds.length > 0);
  expect(free.length + kept.length + refused.length).toBe(names.size);
});

describe("nothing is found and it is freed, with every ref as it was, when", () => {
  test.each(free)("%s", async (_name, state) => {
    const { workspace, ref, path, repository } = await inState(state);
    expect(await workspace.inspect(ref)).toEqual([]);
    const { refs } = worktreeSnapshot(repository, path);
    await workspace.destroy(ref);
    expect(existsSync(path)).toBe(false);
    expect(worktreeSnapshot(repository, path).refs).toBe(refs);
    expect(repository.worktrees()).toEqual([repository.path]);
  });
});

describe("it is not even looked into, and left byte for byte, when", () => {
  test.each(refused)("%s", async (_name, state) => {
    const { workspace, ref, path, repository } = await inState(state);
    const before = worktreeSnapshot(repository, path);
    for (const method of ["inspect", "survey", "destroy"] as const) {
      await failure(workspace[method](ref), "workspace_unsafe_path");
    }
    expect(worktreeSnapshot(repository, path)).toEqual(before);
  });
});
