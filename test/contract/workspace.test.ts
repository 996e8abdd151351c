import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { memoryLocks } from "../../src/adapters/memory/locks.ts";
import { memoryProcessTable } from "../../src/adapters/memory/process-table.ts";
import { memoryWorkspace } from "../../src/adapters/memory/workspace.ts";
import { gitWorktrees } from "../../src/adapters/worktree/git-worktrees.ts";
import type { ProjectId, SessionId } from "../../src/domain/ids.ts";
import type { WorkspaceSpec } from "../../src/ports/workspace.ts";
import { GIT_ENV, gitIn, gitRepository, writeIn } from "../support/git-repository.ts";
import { tempDir } from "../support/temp-dir.ts";
import { workspaceContract } from "./workspace.contract.ts";
import { type RecoveryWorld, workspaceRecoveryContract } from "./workspace-recovery.contract.ts";

function specFor(repositoryPath: string, managedRoot: string, patch: Partial<WorkspaceSpec>): WorkspaceSpec {
  return {
    projectId: "app" as ProjectId,
    sessionId: "app-1" as SessionId,
    repositoryPath,
    path: join(managedRoot, "app", "app-1"),
    branch: "feat/1",
    baseRef: null,
    defaultBranch: null,
    postCreate: { symlinks: [], copy: [], commands: [], timeoutMs: 5_000 },
    env: {},
    operationId: null,
    ...patch,
  };
}

function memoryWorld(): RecoveryWorld {
  const workspace = memoryWorkspace({ managedRoot: "/data/worktrees" });
  const repository = "/repo";
  workspace.addBranch(repository, "main");
  return {
    workspace,
    spec: (patch = {}) => specFor(repository, "/data/worktrees", patch),
    branches: () => workspace.branches(repository),
    addBranch: (name) => workspace.addBranch(repository, name),
    removeBranch: (name) => workspace.removeBranch(repository, name),
    exists: workspace.exists,
    spoil: (path) => workspace.refuse(path),
    clean: workspace.allow,
    switchTo: workspace.switchTo,
    vanish: workspace.vanish,
    breakOff: async (spec, plan) => workspace.breakOff(spec, plan),
    moveBranch: (name) => workspace.moveBranch(repository, name),
    leaveTrash: workspace.leaveTrash,
  };
}

let trashed = 0;

function gitWorld(): RecoveryWorld {
  const repository = gitRepository();
  const dataDir = tempDir("ao-data");
  const managedRoot = join(dataDir, "worktrees");
  const options = { managedRoot, trashDir: join(dataDir, "trash"), env: GIT_ENV };
  const workspace = gitWorktrees({ ...options, processes: memoryProcessTable(), locks: memoryLocks() });
  return {
    workspace,
    spec: (patch = {}) => specFor(repository.path, managedRoot, { env: GIT_ENV, ...patch }),
    branches: repository.branches,
    addBranch: (name) => void repository.git("branch", name),
    removeBranch: (name) => void repository.git("branch", "-D", name),
    exists: existsSync,
    spoil: (path) => writeIn(path, "notes.txt", "mine\n"),
    clean: (path) => rmSync(join(path, "notes.txt")),
    switchTo: (path, branch) =>
      void gitIn(path, "checkout", "-q", ...(branch === null ? ["--detach"] : ["-B", branch])),
    vanish: (path) => rmSync(path, { recursive: true }),
    async breakOff(spec, plan) {
      const { path } = await workspace.create(spec, plan);
      const gitDir = gitIn(path, "rev-parse", "--absolute-git-dir");
      rmSync(join(gitDir, "ao.json"));
      writeIn(gitDir, "locked", `ao operation ${plan.operationId}`);
    },
    moveBranch: (name) => {
      const commit = repository.git("commit-tree", "-m", "later", "HEAD^{tree}");
      repository.git("update-ref", `refs/heads/${name}`, commit);
    },
    leaveTrash: () => {
      trashed += 1;
      writeIn(join(options.trashDir, `app-1.1700000000000.${trashed}.gone`), "sub/file.txt", "x");
    },
  };
}

for (const [name, world] of [
  ["memoryWorkspace", memoryWorld],
  ["gitWorktrees", gitWorld],
] as const) {
  workspaceContract(name, world);
  workspaceRecoveryContract(name, world);
}
