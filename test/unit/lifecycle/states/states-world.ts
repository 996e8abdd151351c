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
} from "../../../../src/lifecycle/cleanup-sessions.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { type KillOptions, killSession } from "../../../../src/lifecycle/kill-session.ts";
import type { ProjectSettings } from "../../../../src/lifecycle/projects.ts";
import { restoreSession } from "../../../../src/lifecycle/restore-session.ts";
import { spawnSession } from "../../../../src/lifecycle/spawn-session.ts";
import type { PostCreate } from "../../../../src/ports/workspace.ts";
import { aProject } from "../../../support/builders.ts";
import { GIT_ENV, type TestRepository } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { aSpawnRequest, aWorld } from "../../../support/world.ts";

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

/**
 * Sessions of agents in memory, with real git below them: one data directory, a project for each repository. The
 * processes of this machine, which take long to look at, are seen only when asked for.
 */
export function statesWorld({ seesProcesses }: { readonly seesProcesses: boolean }) {
  const { deps: memory } = aWorld();
  const dataDir = tempDir("ao-data");
  const ignored = new Map<string, IgnoredRule>();
  const options = {
    ...{ env: GIT_ENV, managedRoot: join(dataDir, "worktrees"), trashDir: join(dataDir, "trash") },
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
    cleanup: (overrides: Partial<CleanupOptions>): Promise<CleanupResult> =>
      cleanupSessions(deps, { projectId: null, dryRun: false, olderThanMs: null, ...overrides }),
    restore: ({ id, settings }: StateSession) => restoreSession(deps, id, { fresh: true, settings }),
  };
}

export type StatesWorld = ReturnType<typeof statesWorld>;
