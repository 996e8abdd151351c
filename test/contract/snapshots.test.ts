import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { execaSync } from "execa";
import { memoryLocks } from "../../src/adapters/memory/locks.ts";
import { memorySnapshots } from "../../src/adapters/memory/memory-snapshots.ts";
import { memoryProcessTable } from "../../src/adapters/memory/process-table.ts";
import { memoryWorkspace } from "../../src/adapters/memory/workspace.ts";
import { gitWorktrees } from "../../src/adapters/worktree/git-worktrees.ts";
import { gitSnapshots } from "../../src/adapters/worktree/salvage/git-snapshots.ts";
import type { ProjectId, SessionId } from "../../src/domain/ids.ts";
import type { Workspace, WorkspaceSpec } from "../../src/ports/workspace.ts";
import { GIT_ENV, gitIn, gitRepository, writeIn } from "../support/git-repository.ts";
import { leaveSocket } from "../support/sockets.ts";
import { tempDir } from "../support/temp-dir.ts";
import { type SnapshotsWorld, snapshotsContract } from "./snapshots.contract.ts";

const FIRST = "app-1" as SessionId;
const SECOND = "app-2" as SessionId;

function specFor(repositoryPath: string, managedRoot: string, sessionId: SessionId): WorkspaceSpec {
  return {
    ...{ projectId: "app" as ProjectId, sessionId, repositoryPath, baseRef: null, defaultBranch: null },
    ...{ path: join(managedRoot, "app", sessionId), env: GIT_ENV, operationId: null },
    branch: sessionId === FIRST ? "feat/1" : "feat/2",
    branchIsMadeUp: false,
    postCreate: { symlinks: [], copy: [], commands: [], timeoutMs: 5_000 },
  };
}

async function make(workspace: Workspace, spec: WorkspaceSpec): Promise<WorkspaceSpec> {
  await workspace.create(spec, await workspace.plan(spec));
  return spec;
}

async function memoryWorld(): Promise<SnapshotsWorld> {
  const workspace = memoryWorkspace({ managedRoot: "/data/worktrees" });
  workspace.addBranch("/repo", "main");
  const spec = await make(workspace, specFor("/repo", "/data/worktrees", FIRST));
  const snapshots = memorySnapshots({ workspace });
  const { work } = snapshots;
  return {
    snapshots,
    workspaces: workspace,
    workspace: spec,
    other: () => make(workspace, specFor("/repo", "/data/worktrees", SECOND)),
    write: (file, content, { path } = spec) => work.write(path, file, content),
    stage: (file) => work.stage(spec.path, file),
    files: () => (workspace.exists(spec.path) ? Object.fromEntries(work.state(spec.path).files) : {}),
    staged: () => [...work.state(spec.path).staged.keys()].sort(),
    remove: () => workspace.vanish(spec.path),
    makeAnew: async () => void (await workspace.restore(spec, await workspace.planRestore(spec))),
    async addSpecial(pipe, socket) {
      work.addSpecial(spec.path, { path: pipe, kind: "pipe" });
      work.addSpecial(spec.path, { path: socket, kind: "socket" });
    },
    spoil: () => snapshots.spoil(spec.path, [{ path: "pipe", why: "it is neither file, folder nor link" }]),
  };
}

async function gitWorld(): Promise<SnapshotsWorld> {
  const repository = gitRepository();
  repository.commit(".gitignore", ".env\nnode_modules/\n");
  const dataDir = tempDir("ao-data");
  const managedRoot = join(dataDir, "worktrees");
  const options = {
    ...{ managedRoot, trashDir: join(dataDir, "trash"), env: GIT_ENV },
    ...{ processes: memoryProcessTable(), locks: memoryLocks() },
  };
  const workspace = gitWorktrees(options);
  const spec = await make(workspace, specFor(repository.path, managedRoot, FIRST));
  return {
    snapshots: gitSnapshots(options),
    workspaces: workspace,
    workspace: spec,
    other: () => make(workspace, specFor(repository.path, managedRoot, SECOND)),
    write: (file, content, { path } = spec) =>
      content === null ? rmSync(join(path, file)) : writeIn(path, file, content),
    stage: (file) => void gitIn(spec.path, "add", "-f", "--", file),
    files: () => filesOf(spec.path),
    staged: () => gitIn(spec.path, "diff", "--cached", "--name-only").split("\n").filter(Boolean).sort(),
    remove() {
      repository.git("worktree", "remove", "--force", spec.path);
      rmSync(spec.path, { recursive: true, force: true });
    },
    makeAnew: async () => void (await workspace.restore(spec, await workspace.planRestore(spec))),
    async addSpecial(pipe, socket) {
      execaSync("mkfifo", [join(spec.path, pipe)]);
      leaveSocket(spec.path, socket);
    },
    spoil() {
      rmSync(join(spec.path, "readme.md"));
      execaSync("mkfifo", [join(spec.path, "readme.md")]);
    },
  };
}

function filesOf(root: string): Record<string, string> {
  const names = existsSync(root) ? readdirSync(root, { recursive: true, encoding: "utf8" }) : [];
  const files = names.filter((name) => name !== ".git" && statSync(join(root, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(root, name), "utf8")]));
}

snapshotsContract("memorySnapshots", memoryWorld);
snapshotsContract("gitSnapshots", gitWorld);
