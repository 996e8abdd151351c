import { describe, test } from "vitest";
import { FREE_STATES } from "../../../support/worktree-states/free-states.ts";
import { casesOf } from "./table-cases.ts";
import { freeAndBringBack } from "./table-run.ts";

describe("cleanup frees what its dry run names, with every ref as it was, and restore brings it back, when", () => {
  test.each(casesOf(FREE_STATES))("%s", (_name, state) => freeAndBringBack(state, "cleanup"));
});
