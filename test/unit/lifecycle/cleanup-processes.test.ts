import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitWorktrees } from "../../../src/adapters/worktree/git-worktrees.ts";
import { cleanupSessions } from "../../../src/lifecycle/cleanup-sessions.ts";
import type { SessionDeps } from "../../../src/lifecycle/deps.ts";
import { killSession } from "../../../src/lifecycle/kill-session.ts";
import { spawnSession } from "../../../src/lifecycle/spawn-session.ts";
import { aProject } from "../../support/builders.ts";
import { GIT_ENV, gitRepository } from "../../support/git-repository.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { aSpawnRequest, aWorld } from "../../support/world.ts";
import { gitWrapper } from "../adapters/worktree/worktree-world.ts";

/** Many a candidate is judged before and after its turn comes, with what stays and what is merged: 36 with git 2.39.5. */
const MOST_PER_CANDIDATE = 45;

/** How many processes of git a cleanup of so many sessions starts. */
async function processesFor(sessions: number): Promise<number> {
  const { deps: memory, runtime } = aWorld();
  const dataDir = tempDir("ao-data");
  const count = join(tempDir("ao-count"), "count");
  const options = {
    ...{ env: GIT_ENV, managedRoot: join(dataDir, "worktrees"), trashDir: join(dataDir, "trash") },
    ...{ processes: memory.processes, locks: memory.locks },
  };
  const deps: SessionDeps = { ...memory, dataDir, workspace: gitWorktrees(options) };
  const project = aProject({ id: "real", repositoryPath: gitRepository().path });
  deps.store.insertProject(project);
  for (let number = 1; number <= sessions; number += 1) {
    const { record } = await spawnSession(deps, aSpawnRequest(project, { issueId: `${number}` }));
    const kill = { reason: "manual", note: null, keepWorktree: true, callerSessionId: null } as const;
    await killSession(deps, record.id, kill);
    runtime.setLook(record.id, { runtime: { kind: "missing" }, process: { kind: "dead" } });
  }
  writeFileSync(count, "");
  const counted = gitWorktrees({ ...options, gitPath: gitWrapper(`echo >> '${count}'`) });
  const rules = { projectId: null, dryRun: false, olderThanMs: null, deleteMergedBranches: true };
  const { cleaned } = await cleanupSessions({ ...deps, workspace: counted }, rules);
  expect(cleaned.filter(({ branchDeleted }) => branchDeleted !== null)).toHaveLength(sessions);
  return readFileSync(count, "utf8").length;
}

test("a cleanup starts a fixed number of processes for each candidate, however many there are", async () => {
  const [five, ten] = [await processesFor(5), await processesFor(10)];
  const perCandidate = (ten - five) / 5;
  expect({ perCandidate, beside: five - 5 * perCandidate }).toEqual({
    perCandidate: Math.round(perCandidate),
    beside: 0,
  });
  expect(perCandidate).toBeLessThanOrEqual(MOST_PER_CANDIDATE);
}, 120_000);
