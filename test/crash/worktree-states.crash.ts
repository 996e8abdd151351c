import { describe, test } from "vitest";
import { FREE_STATES } from "../support/worktree-states/free-states.ts";
import { WORKTREE_STATES } from "../support/worktree-states.ts";
import { casesOf, salvageCases } from "../unit/lifecycle/states/table-cases.ts";
import { type FreeBy, freeAndBringBack, keepAndBringBack } from "../unit/lifecycle/states/table-run.ts";

const kept = WORKTREE_STATES.filter((state) => !FREE_STATES.includes(state));

describe("kill and cleanup leave it, and cleanup --salvage and restore bring all of it back, when", () => {
  test.each([...casesOf(kept), ...salvageCases()])("%s", (_name, state) => keepAndBringBack(state));
});

describe.each<FreeBy>(["kill", "cleanup --salvage"])(
  "%s frees it, and restore brings it back, when",
  (by) => {
    test.each(casesOf(FREE_STATES))("%s", (_name, state) => freeAndBringBack(state, by));
  },
);
