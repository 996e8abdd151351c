import { describe, expect, test } from "vitest";
import { FREE_STATES } from "../../../support/worktree-states/free-states.ts";
import type { WorktreeState } from "../../../support/worktree-states/state.ts";
import { WORKTREE_STATES } from "../../../support/worktree-states.ts";
import { casesOf } from "./table-cases.ts";
import { keepAndBringBack, leaveWork } from "./table-run.ts";

/** A tenth of them goes all the way, and those whose branch is gone; `npm run test:crash` takes them all. */
const STEP = 10;
const isWhole = (index: number, { isBranchless }: WorktreeState): boolean =>
  index % STEP === 0 || isBranchless === true;
const kept = WORKTREE_STATES.filter((state) => !FREE_STATES.includes(state));

test("the table has every state once, at least forty, each with the one answer it needs", () => {
  const names = new Set(WORKTREE_STATES.map(({ name }) => name));
  expect(names.size).toBe(WORKTREE_STATES.length);
  expect(names.size).toBeGreaterThanOrEqual(40);
  const isFree = ({ reason }: (typeof WORKTREE_STATES)[number]) => reason === null;
  expect(WORKTREE_STATES.filter(isFree)).toEqual(FREE_STATES);
});

describe("kill and cleanup leave it byte for byte and say why, a dry run as the run, when", () => {
  test.each(casesOf(kept, (index, state) => !isWhole(index, state)))("%s", async (_name, state) => {
    await leaveWork(state);
  });
});

describe("so they do, and cleanup --salvage and restore bring all of it back, when", () => {
  test.each(casesOf(kept, isWhole))("%s", (_name, state) => keepAndBringBack(state));
});
