import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { memoryLocks } from "../../../../src/adapters/memory/locks.ts";
import { memoryProcessTable } from "../../../../src/adapters/memory/process-table.ts";
import { type GitWorktreesOptions, gitWorktrees } from "../../../../src/adapters/worktree/git-worktrees.ts";
import { type AoError, type AoErrorCode, isAoError } from "../../../../src/domain/errors.ts";
import type { ProjectId, SessionId } from "../../../../src/domain/ids.ts";
import { type OperationId, operationIdOfDigest } from "../../../../src/domain/operation.ts";
import type { WorkspaceFinding } from "../../../../src/domain/workspace-finding.ts";
import type { PostCreate } from "../../../../src/ports/post-create.ts";
import type { WorkspacePlan, WorkspaceSpec } from "../../../../src/ports/workspace.ts";
import { GIT_ENV, gitIn, gitRepository, type TestRepository } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";

type Patch = Partial<Omit<WorkspaceSpec, "postCreate">> & { readonly postCreate?: Partial<PostCreate> };

/** Of the process table only what is given is replaced. */
type WorldOptions = Partial<Omit<GitWorktreesOptions, "processes">> & {
  readonly processes?: Partial<GitWorktreesOptions["processes"]>;
};

/** The adapter on a real repository, with a data directory of its own. */
export function worktreeWorld(
  repository: TestRepository = gitRepository(),
  { processes: replaced, ...options }: WorldOptions = {},
) {
  const dataDir = tempDir("ao-data");
  const managedRoot = options.managedRoot ?? join(dataDir, "worktrees");
  const trashDir = options.trashDir ?? join(dataDir, "trash");
  const processes = memoryProcessTable();
  const port = gitWorktrees({
    ...{ env: GIT_ENV, processes: { ...processes, ...replaced }, locks: memoryLocks() },
    ...options,
    managedRoot,
    trashDir,
  });
  const workspace = {
    ...port,
    /** Plans as well when it is given no plan. */
    create: async (wanted: WorkspaceSpec, plan?: WorkspacePlan) =>
      port.create(wanted, plan ?? (await port.plan(wanted))),
    /** The same. */
    restore: async (wanted: WorkspaceSpec, plan?: WorkspacePlan | null) =>
      port.restore(wanted, plan === undefined ? await port.planRestore(wanted) : plan),
  };
  const spec = ({ postCreate, ...patch }: Patch = {}): WorkspaceSpec => {
    const sessionId = patch.sessionId ?? ("app-1" as SessionId);
    return {
      projectId: "app" as ProjectId,
      sessionId,
      repositoryPath: repository.path,
      path: join(managedRoot, "app", sessionId),
      branch: "feat/1",
      baseRef: null,
      defaultBranch: null,
      postCreate: { symlinks: [], copy: [], commands: [], timeoutMs: 5_000, ...postCreate },
      env: GIT_ENV,
      operationId: null,
      ...patch,
    };
  };
  return { repository, dataDir, managedRoot, trashDir, processes, workspace, spec };
}

export type WorktreeWorld = ReturnType<typeof worktreeWorld>;

/** An operation of nobody else: by its id the processes of this machine are found, other tests' as well. */
export function anOperationId(): OperationId {
  return operationIdOfDigest(randomUUID().replaceAll("-", ""));
}

/** Everything that a failed call could have left: compare it before and after. */
export function traces({ repository, dataDir }: WorktreeWorld) {
  return {
    branches: repository.git("for-each-ref", "--format=%(refname) %(objectname)"),
    worktrees: repository.worktrees(),
    status: repository.git("status", "--porcelain", "--ignored"),
    config: repository.git("config", "--list", "--local"),
    files: filesBelow(dataDir).filter((path) => !lstatSync(join(dataDir, path)).isDirectory()),
    sessions: filesBelow(dataDir).filter((path) => path.includes("app")),
  };
}

/** Paths of everything below a folder, sorted; links are not followed. */
export function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
}

/** The error of a call that has to fail with this code. */
export async function failure(promise: Promise<unknown>, code: AoErrorCode): Promise<AoError> {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!isAoError(error)) throw new Error(`expected ${code}, got ${JSON.stringify(error)}`, { cause: error });
  expect(error.code, error.message).toBe(code);
  return error;
}

/** Kinds of the findings with their items. */
export function itemsByKind(findings: readonly WorkspaceFinding[]): Record<string, readonly string[]> {
  return Object.fromEntries(findings.map(({ kind, items }) => [kind, items]));
}

/** The private git directory of a worktree. */
export function gitDirOf(path: string): string {
  return gitIn(path, "rev-parse", "--absolute-git-dir");
}

/** The marker of a worktree, as stored. */
export function markerAt(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(gitDirOf(path), "ao.json"), "utf8"));
}

/** A stand-in for git: a shell script that sees the arguments and ends with the real one. */
export function gitWrapper(script: string): string {
  const path = join(tempDir("ao-git"), "git");
  writeFileSync(path, `#!/bin/sh\n${script}\nexec git "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Writes an executable hook of the repository. */
export function hook(repository: TestRepository, name: string, script: string): void {
  const path = join(repository.path, ".git", "hooks", name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}
