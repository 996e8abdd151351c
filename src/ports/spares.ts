import type { OperationId } from "../domain/operation.ts";
import type { Project } from "../domain/project.ts";
import type { WorkspacePlan, WorkspaceRef } from "./workspace.ts";

/** Where worktrees that are made ahead start: as those of sessions that ask for nothing else. */
export interface SpareBase {
  readonly baseRef: string;
  readonly baseCommit: string;
}

/** What a project's configuration says of worktrees made ahead. */
export interface PoolSettings {
  /** How many are kept ready; 0 for none. */
  readonly size: number;
  /** `null` means: ask git. */
  readonly defaultBranch: string | null;
}

/**
 * Worktrees that are made before anybody asks for one: no session's, at a commit and on no branch. They are among
 * `Workspace.marked`, taken by `Workspace.create`, and removed by `Workspace.destroy` and `discard`.
 */
export interface Spares {
  /** What the configuration says now. @throws AoError config_invalid */
  wanted(project: Project): Promise<PoolSettings>;

  /**
   * Where the next one would start. Nothing is fetched.
   *
   * @throws AoError as `Workspace.plan`.
   */
  base(repositoryPath: string, defaultBranch: string | null): Promise<SpareBase>;

  /**
   * What `make` is going to make, which `Workspace.discard` takes back. Changes nothing.
   *
   * @throws AoError workspace_exists, workspace_unsafe_path, git_unavailable, git_failed.
   */
  plan(ref: WorkspaceRef, base: SpareBase, operationId: OperationId): Promise<WorkspacePlan>;

  /** Makes it as planned. On failure nothing is left. @throws AoError as `Workspace.create`. */
  make(ref: WorkspaceRef, plan: WorkspacePlan): Promise<void>;

  /**
   * Why it can no more be used, as one clause: its base has moved, something in it was changed, it is on its way
   * out, an operation has it. `null` while it can. Changes nothing.
   *
   * @throws AoError as `Workspace.inspect`.
   */
  flaw(ref: WorkspaceRef, base: SpareBase): Promise<string | null>;
}
