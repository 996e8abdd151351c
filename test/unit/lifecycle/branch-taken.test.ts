import { expect, test } from "vitest";
import { AoError } from "../../../src/domain/errors.ts";
import { explainTaken } from "../../../src/lifecycle/branch-taken.ts";
import { sessionId } from "../../support/builders.ts";
import { aWorld, type World } from "../../support/world.ts";

const ID = sessionId("app-9");
const OTHER = sessionId("app-1");
const THERE = "/data/worktrees/app/app-1";

async function hintFor({ deps }: World, path: string | null, hint: string): Promise<string | null> {
  const taken = new AoError("branch_in_use", "branch feat/1 is checked out", { hint, details: { path } });
  const explained = await explainTaken(deps, taken, ID);
  expect(explained).toMatchObject({ code: "branch_in_use", message: taken.message, details: { path } });
  return explained.hint;
}

/** A world in which session `app-1` has a worktree. */
async function aWorldWithOther(): Promise<World> {
  const world = aWorld();
  await world.spawn();
  return world;
}

test("a branch that a live session has is freed by its end", async () => {
  expect(await hintFor(await aWorldWithOther(), THERE, "choose another name with --branch")).toBe(
    `session app-1 has it; end it: ao kill app-1, or switch to another branch in ${THERE}, then: ao restore app-9`,
  );
});

test("a branch that the worktree of an ended session has is freed with that", async () => {
  const world = await aWorldWithOther();
  world.workspace.refuse(THERE);
  await world.kill(OTHER).catch(() => undefined);
  expect(await hintFor(world, THERE, "choose another name with --branch")).toBe(
    `session app-1 has it; free its worktree: ao kill app-1, or switch to another branch in ${THERE}, then: ao restore app-9`,
  );
});

test("a branch that a person has checked out is theirs to switch from", async () => {
  const world = aWorld();
  await world.files.write("/repo/app/.git/HEAD", "");
  expect(await hintFor(world, "/repo/app", "choose another name with --branch")).toBe(
    "switch to another branch in /repo/app, then: ao restore app-9",
  );
});

test.each<[string, string | null, string]>([
  ["a folder that is gone", "/gone", "that folder is gone: git -C /repo/app worktree prune"],
  ["another process just now", null, "try again"],
])("of a branch that is taken by %s the advice of git's side stands", async (_what, path, hint) => {
  expect(await hintFor(aWorld(), path, hint)).toBe(`${hint}, then: ao restore app-9`);
});
