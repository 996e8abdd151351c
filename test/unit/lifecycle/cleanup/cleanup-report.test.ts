import { expect, test } from "vitest";
import { printedCleanup } from "../../../../src/lifecycle/cleanup/cleanup-report.ts";

test("the trouble with worktrees made ahead is printed among the errors, by what it is about", () => {
  const failed = { id: "app-1", projectId: "app", message: "busy" };
  const report = {
    ...{ cleaned: [], branchesDeleted: [], skipped: [], errors: [failed], dryRun: false, pool: [] },
    poolErrors: [
      { subject: "worktree /w/app/ao-pool-1", code: "git_failed", message: "git says no" } as const,
    ],
  };
  const { errors, ...rest } = printedCleanup(report);
  expect(errors).toEqual([
    failed,
    { id: "worktree /w/app/ao-pool-1", projectId: "every-project", message: "git says no" },
  ]);
  expect(rest).not.toHaveProperty("poolErrors");
});
