import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemFiles } from "../../../../src/adapters/node/system-files.ts";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import { gitRepositories } from "../../../../src/adapters/worktree/git-repositories.ts";
import { gitWorktrees } from "../../../../src/adapters/worktree/git-worktrees.ts";
import { gitSnapshots } from "../../../../src/adapters/worktree/salvage/git-snapshots.ts";
import { isAoError } from "../../../../src/domain/errors.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import { type IgnoredRule, NO_IGNORED_RULE } from "../../../../src/domain/ignored-rule.ts";
import {
  type CleanupOptions,
  type CleanupResult,
  cleanupSessions,
} from "../../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { type KillOptions, killSession } from "../../../../src/lifecycle/kill/kill-session.ts";
import type { ProjectSettings } from "../../../../src/lifecycle/projects/projects.ts";
import { restoreSession } from "../../../../src/lifecycle/restore/restore-session.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import type { PostCreate } from "../../../../src/ports/post-create.ts";
import { aProject } from "../../../support/builders.ts";
import { GIT_ENV, type TestRepository } from "../../../support/git-repository.ts";
import { otherDisk } from "../../../support/other-disk.ts";
import { smallDisk } from "../../../support/small-disk.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { giveAway } from "../../../support/unprivileged.ts";
import type { OwnDisk } from "../../../support/worktree-states/state.ts";
import { aSpawnRequest, aWorld } from "../../../support/world.ts";
import { gitWrapper } from "../../adapters/worktree/worktree-world.ts";

/** A session whose worktree is real. */
export interface StateSession {
  readonly id: SessionId;
  readonly repository: TestRepository;
  /** Its worktree. */
  readonly path: string;
  readonly settings: ProjectSettings;
}

export interface SessionOptions {
  readonly postCreate?: Partial<PostCreate>;
  readonly ignored?: IgnoredRule;
  readonly branch?: string | null;
}

const KILL: KillOptions = { reason: "manual", note: null, keepWorktree: false, callerSessionId: null };

export interface StatesWorldOptions {
  /** Whether the processes of this machine are seen, which take long to look at. */
  readonly seesProcesses: boolean;
  readonly ownDisk?: OwnDisk | undefined;
  /** Another program than git. */
  readonly gitPath?: string;
}

const isRoot = process.geteuid?.() === 0;

/** Where worktrees and their trash are; what has a disk of its own is reached through a link, or mounted. */
function foldersOf(dataDir: string, ownDisk: OwnDisk | undefined) {
  const managedRoot = join(dataDir, "worktrees");
  const nowhere = { fill: () => {}, free: () => {}, start: (program: readonly string[]) => program };
  if (ownDisk === "worktrees") symlinkSync(otherDisk(), managedRoot);
  if (ownDisk === "project") smallDisk(join(managedRoot, "p1"), 64, () => nowhere);
  return { managedRoot, trashDir: join(ownDisk === "trash" ? otherDisk() : dataDir, "trash") };
}

/**
 * A git that takes every repository for another user's while there is such a file, whoever runs it (setup.c, 2.39.5).
 */
function wary(flag: string): string {
  return gitWrapper(`[ ! -e '${flag}' ] || export GIT_TEST_ASSUME_DIFFERENT_OWNER=1`);
}

/** Sessions of agents in memory, with real git below them: one data directory, a project for each repository. */
export function statesWorld({ seesProcesses, ownDisk, gitPath }: StatesWorldOptions) {
  const { deps: memory } = aWorld();
  const dataDir = tempDir("ao-data");
  const foreign = join(dataDir, "foreign");
  const ignored = new Map<string, IgnoredRule>();
  const options = {
    ...{ env: GIT_ENV, gitPath: gitPath ?? (isRoot ? "git" : wary(foreign)), ...foldersOf(dataDir, ownDisk) },
    ...{ processes: seesProcesses ? systemProcessTable() : memory.processes, locks: memory.locks },
    ignoredRule: async ({ projectId }: { readonly projectId: string }) =>
      ignored.get(projectId) ?? NO_IGNORED_RULE,
  };
  const deps: SessionDeps = {
    ...memory,
    ...{ workspace: gitWorktrees(options), snapshots: gitSnapshots(options) },
    ...{ repositories: gitRepositories({ env: GIT_ENV }), files: systemFiles({ dataDir }), dataDir },
  };
  let projects = 0;

  return {
    deps,
    async spawn(
      repository: TestRepository,
      { postCreate, ignored: rule, branch = null }: SessionOptions = {},
    ) {
      projects += 1;
      const project = aProject({ id: `p${projects}`, repositoryPath: repository.path });
      deps.store.insertProject(project);
      if (rule !== undefined) ignored.set(project.id, rule);
      const settings: ProjectSettings = {
        ...{ env: {}, agentRules: null },
        postCreate: { symlinks: [], copy: [], commands: [], timeoutMs: 5_000, ...postCreate },
      };
      const request = aSpawnRequest(project, { settings, issueId: null, prompt: null, branch });
      const { record } = await spawnSession(deps, request);
      return { id: record.id, repository, path: record.metadata.workspacePath, settings };
    },
    /** The error when it is refused. */
    async kill({ id }: StateSession, overrides: Partial<KillOptions> = {}) {
      try {
        return { kind: "done", result: await killSession(deps, id, { ...KILL, ...overrides }) } as const;
      } catch (error) {
        if (isAoError(error)) return { kind: "refused", error } as const;
        throw error;
      }
    },
    /** From now on the repository is another user's. */
    estrange({ path }: TestRepository): void {
      if (!giveAway([path])) writeFileSync(foreign, "");
    },
    cleanup: (overrides: Partial<CleanupOptions>): Promise<CleanupResult> =>
      cleanupSessions(deps, { projectId: null, dryRun: false, olderThanMs: null, ...overrides }),
    restore: ({ id, settings }: StateSession) => restoreSession(deps, id, { fresh: true, settings }),
  };
}

export type StatesWorld = ReturnType<typeof statesWorld>;
