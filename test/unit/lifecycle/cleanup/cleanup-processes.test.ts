import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitWorktrees } from "../../../../src/adapters/worktree/git-worktrees.ts";
import { cleanupSessions } from "../../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import { aProject } from "../../../support/builders.ts";
import { GIT_ENV, gitIn, gitRepository } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { aSpawnRequest, aWorld } from "../../../support/world.ts";
import { gitWrapper } from "../../adapters/worktree/worktree-world.ts";

/** Each is judged when it is planned, before it is moved and after that: 14 with git 2.39.5. */
const MOST_PER_CANDIDATE = 20;
/** Its branch is proven merged twice, and deleted: 9 more. */
const MOST_WITH_BRANCH = 24;

/** Only its branch is proven merged, twice, and deleted. */
const MOST_OF_FREED = 12;

interface Kind {
  readonly deletes: boolean;
  /** A kill freed their worktrees before. */
  readonly isFreed: boolean;
}

/** How many processes of git a cleanup of so many sessions starts; each has a branch that was merged. */
async function processesFor(sessions: number, { deletes, isFreed }: Kind): Promise<number> {
  const { deps: memory, runtime } = aWorld();
  const dataDir = tempDir("ao-data");
  const count = join(tempDir("ao-count"), "count");
  const options = {
    ...{ env: GIT_ENV, managedRoot: join(dataDir, "worktrees"), trashDir: join(dataDir, "trash") },
    ...{ processes: memory.processes, locks: memory.locks },
  };
  const deps: SessionDeps = { ...memory, dataDir, workspace: gitWorktrees(options) };
  const repository = gitRepository();
  const project = aProject({ id: "real", repositoryPath: repository.path });
  deps.store.insertProject(project);
  for (let number = 1; number <= sessions; number += 1) {
    const { record } = await spawnSession(deps, aSpawnRequest(project, { issueId: `${number}` }));
    gitIn(record.metadata.workspacePath, "commit", "-q", "--allow-empty", "-m", `work ${number}`);
    repository.git("merge", "-q", "--no-ff", record.metadata.branch);
    const kill = { reason: "manual", note: null, keepWorktree: !isFreed, callerSessionId: null } as const;
    await killSession(deps, record.id, kill);
    runtime.setLook(record.id, { runtime: { kind: "missing" }, process: { kind: "dead" } });
  }
  writeFileSync(count, "");
  const counted = gitWorktrees({ ...options, gitPath: gitWrapper(`echo >> '${count}'`) });
  const rules = { projectId: null, dryRun: false, olderThanMs: null, deleteMergedBranches: deletes };
  const { cleaned, branchesDeleted } = await cleanupSessions({ ...deps, workspace: counted }, rules);
  expect([cleaned.length, branchesDeleted.length]).toEqual(isFreed ? [0, sessions] : [sessions, 0]);
  expect(repository.branches()).toHaveLength(deletes ? 1 : sessions + 1);
  return readFileSync(count, "utf8").length;
}

test.each([
  ["", MOST_PER_CANDIDATE, { deletes: false, isFreed: false }],
  [" with its branch", MOST_WITH_BRANCH, { deletes: true, isFreed: false }],
  [" whose branch alone is left", MOST_OF_FREED, { deletes: true, isFreed: true }],
] as const)(
  "a cleanup starts a fixed number of processes for each candidate%s, however many there are",
  async (_with, most, kind) => {
    const [one, three] = [await processesFor(1, kind), await processesFor(3, kind)];
    const perCandidate = (three - one) / 2;
    expect({ perCandidate, beside: one - perCandidate }).toEqual({
      perCandidate: Math.round(perCandidate),
      beside: 0,
    });
    expect(perCandidate).toBeLessThanOrEqual(most);
  },
  120_000,
);
