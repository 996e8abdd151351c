import type { ProjectId, SessionId } from "../domain/ids.ts";
import type { WorkspaceFinding } from "../domain/workspace-finding.ts";
import type { ToolCheck } from "./tool-check.ts";

/** What is put into a new workspace before the agent starts. Paths are relative to the repository. */
export interface PostCreate {
  readonly symlinks: readonly string[];
  readonly copy: readonly string[];
  /** Shell commands that the user wrote in the configuration, run in the workspace, in order. */
  readonly commands: readonly string[];
  /** For each command, in milliseconds. */
  readonly timeoutMs: number;
}

/** Names one workspace. `path` is inside the managed root, whatever was recorded. */
export interface WorkspaceRef {
  readonly projectId: ProjectId;
  readonly sessionId: SessionId;
  readonly repositoryPath: string;
  readonly path: string;
}

export interface WorkspaceSpec extends WorkspaceRef {
  /** A valid branch name. One that exists, here or on the remote, is used as it is. */
  readonly branch: string;
  /** Where a new branch starts; `null` means the default branch. */
  readonly baseRef: string | null;
  readonly defaultBranch: string | null;
  readonly postCreate: PostCreate;
  /** Environment of the post-create commands. */
  readonly env: Readonly<Record<string, string>>;
}

export interface CreatedWorkspace {
  /** Resolved path of the worktree. */
  readonly path: string;
  readonly branch: string;
  /** This call made the branch; an undo may take it back while it has not moved. */
  readonly branchCreated: boolean;
  /** What a new branch started from, or the branch itself when it existed. */
  readonly baseRef: string;
  readonly baseCommit: string;
  /** Things a person should know that were no failure, for example a hook that exited with 3. */
  readonly warnings: readonly string[];
}

/** The files an agent works on. Behaviour every adapter owes: test/contract/workspace.contract.ts. */
export interface Workspace {
  /** Whether the program behind it is there and new enough. Never rejects. */
  check(): Promise<ToolCheck>;

  /**
   * Makes the workspace. On failure nothing is left: no folder, no record, no branch of its making.
   *
   * @throws AoError branch_invalid when git refuses the name, branch_in_use when it is checked out
   *   elsewhere (`details.path`), repository_empty when there is no commit, workspace_exists when something is at
   *   the path, workspace_unsafe_path when it leads outside the managed root, post_create_failed with
   *   `details.output`, git_unavailable, git_failed.
   */
  create(spec: WorkspaceSpec): Promise<CreatedWorkspace>;

  /**
   * Makes the workspace usable again: as it stands when it exists, else from its branch. Never changes
   * or removes what is in it. Post-create steps run only when it was made anew.
   *
   * @throws AoError branch_missing when the branch is gone, and as `create`.
   */
  restore(spec: WorkspaceSpec): Promise<CreatedWorkspace>;

  /**
   * Everything that removing it would lose; empty when it may be freed. A workspace that is gone holds
   * nothing. What cannot be read is a finding, never an empty answer. Changes nothing.
   *
   * @throws AoError workspace_unsafe_path when the path is not this session's own worktree.
   * @throws AoError git_unavailable when git could not be asked.
   */
  inspect(ref: WorkspaceRef): Promise<readonly WorkspaceFinding[]>;

  /**
   * Frees it when nothing would be lost; branches stay. Idempotent.
   *
   * @throws AoError workspace_dirty with `details.findings` when it holds anything; untouched then.
   * @throws AoError as `inspect`.
   */
  destroy(ref: WorkspaceRef): Promise<void>;

  /**
   * Takes a `create` back: frees it as `destroy` does, and removes the branch that `create` made while it
   * still points where it began.
   */
  undoCreate(ref: WorkspaceRef, created: CreatedWorkspace): Promise<void>;
}
