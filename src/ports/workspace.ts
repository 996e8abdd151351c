import type { MergedBranch } from "../domain/cleanup-plan.ts";
import type { ProjectId, SessionId } from "../domain/ids.ts";
import type { OperationId } from "../domain/operation.ts";
import type { HeadPosition } from "../domain/salvage.ts";
import type { WorkspaceFinding } from "../domain/workspace-finding.ts";
import type { Fence } from "./fence.ts";
import type { PostCreate } from "./post-create.ts";
import type { ProcessUse } from "./process-table.ts";
import type { SweptTrash } from "./swept-trash.ts";
import type { ToolCheck } from "./tool-check.ts";
import type { BranchQuery, KeptBranch, WorkspaceSurvey } from "./workspace-facts.ts";

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
  /**
   * Nobody asked for this name, it was made up for the session: one that exists, here or on a remote, is another's.
   * `plan` then takes the next free of `<branch>-2`, `<branch>-3` and so on.
   */
  readonly branchIsMadeUp?: boolean;
  /** Where a new branch starts; `null` means the default branch. */
  readonly baseRef: string | null;
  /** For a restore: where a branch that is gone stood, to be made again there. Unknown when not given. */
  readonly branchCommit?: string;
  /** For a restore that puts work back: where HEAD stood in it, which has to be possible when the branch is gone. */
  readonly keptHead?: HeadPosition;
  readonly defaultBranch: string | null;
  readonly postCreate: PostCreate;
  /** Environment of the post-create commands. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * The operation that makes it; `null` when there is none. It is written into what is made, and every
   * child process of the making has it in its environment as `AO_OPERATION_ID`.
   */
  readonly operationId: OperationId | null;
  /**
   * `create` may take a worktree that was made ahead at the commit where a new branch starts, and that nothing
   * happened to since; another one it leaves alone. No when not given.
   */
  readonly mayBeSpare?: boolean;
  /** Asked by `create` and `restore` before branch, folder and worktree are made; when it throws, nothing more is. */
  readonly fence?: Fence;
}

/** What `create` is going to make, and all that taking it back needs. Plain JSON. */
export interface WorkspacePlan {
  readonly operationId: OperationId | null;
  /** Resolved path of the worktree to be. */
  readonly path: string;
  readonly branch: string;
  /** The branch is there already: it is used as it is, and never removed. */
  readonly branchExists: boolean;
  /** What a new branch starts from, or the branch itself when it exists. */
  readonly baseRef: string;
  readonly baseCommit: string;
  /** It is to stand on no branch, at `baseCommit`; `branch` is only the name on record then. No when not given. */
  readonly detached?: boolean;
  readonly warnings: readonly string[];
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

/** A folder that is ours or looks like it, or one that an interrupted removal moved aside. */
export interface MarkedWorkspace {
  /**
   * `path` is where it belongs, or where it is when nothing tells that; then `projectId` is only what the session
   * id suggests. `repositoryPath` is empty when nothing tells it.
   */
  readonly ref: WorkspaceRef;
  /** The operation that made it, or that takes it when it was made ahead; `null` when that is not known. */
  readonly operationId: OperationId | null;
  /** Unix milliseconds; `null` when that is not known. */
  readonly createdAtMs: number | null;
  /** Why nobody can tell whose it is, for example a making that was broken off; `null` for one with its mark. */
  readonly flaw: string | null;
  /** It was made ahead (`Spares`) and is no session's. */
  readonly spare?: { readonly baseCommit: string };
}

/** Told the branch that is checked out, by its short name. */
export type OnBranch = (branch: string) => void;

/** Tells whether all that a workspace holds at this moment is kept elsewhere (`Snapshots.holds`). */
export type IsKept = () => Promise<boolean>;

/** The files an agent works on. Behaviour every adapter owes: test/contract/workspace.contract.ts. */
export interface Workspace {
  /** Whether the program behind it is there and new enough. Never rejects. */
  check(): Promise<ToolCheck>;

  /**
   * Looks whether `create` can do it, and what it would make. Changes nothing.
   *
   * @throws AoError branch_invalid when git refuses the name, branch_missing when there is no base,
   *   branch_in_use when it is checked out elsewhere (`details.path`), repository_empty when there is no
   *   commit, workspace_exists when something is at the path, workspace_unsafe_path when it leads outside the
   *   managed root, config_invalid, git_unavailable, git_failed.
   */
  plan(spec: WorkspaceSpec): Promise<WorkspacePlan>;

  /**
   * Makes the workspace as planned: a branch that the plan does not know is never taken over. On failure
   * nothing is left: no folder, no record, no branch of its making.
   *
   * @throws AoError post_create_failed with `details.output`, and as `plan`: the world may have changed.
   */
  create(spec: WorkspaceSpec, plan: WorkspacePlan): Promise<CreatedWorkspace>;

  /**
   * Takes back a `create` or a `restore` whose process died in the middle: ends what of its children still
   * runs, then removes folder and record, and the branch unless the plan says that it existed or it has moved.
   * Only for one in which no agent ever ran. Idempotent.
   *
   * @throws AoError workspace_dirty when there is work in it, or its repository is gone and there is anything in
   *   it; `details.findings`, all of it is left then. Of what is half made nothing is work that the making can have
   *   put there, cut off or whole; what a post-create command wrote is no proof of that.
   * @throws AoError workspace_unsafe_path when what is there is not of this session and operation; all of it
   *   is left then, the branch as well.
   * @throws AoError teardown_incomplete when a child would not end, or files could not be deleted.
   * @throws AoError git_unavailable, git_failed.
   */
  discard(ref: WorkspaceRef, plan: WorkspacePlan): Promise<void>;

  /**
   * Makes the workspace usable again as `planRestore` planned it: as it stands, or anew from its branch. Never
   * changes or removes what is in it. Post-create steps run only when it is made anew.
   *
   * @throws AoError workspace_exists when it was to be made anew and is there, workspace_unsafe_path when it was
   *   to be used as it stood and is gone; nothing is changed then.
   * @throws AoError as `create`.
   */
  restore(spec: WorkspaceSpec, plan: WorkspacePlan | null): Promise<CreatedWorkspace>;

  /**
   * What `restore` would have to make anew, `null` when the workspace stands and nothing is to be made.
   * Changes nothing. A branch that `keptHead` was on and that is gone is to be made again there; when it was on
   * another or on none, and the branch is gone, the workspace is to stand on no branch. Either is a warning, and so
   * is a folder that somebody took away.
   *
   * @throws AoError branch_missing when the branch is gone and nothing tells where it stood, and as `plan`.
   */
  planRestore(spec: WorkspaceSpec): Promise<WorkspacePlan | null>;

  /**
   * Everything that removing it would lose; empty when it may be freed. A workspace that was freed holds
   * nothing; one that somebody else took from its place is `missing`, for it may have been moved. What cannot
   * be read is a finding, never an empty answer. Changes nothing.
   *
   * `seen` is what `users` saw; without it the processes are looked at once more.
   *
   * @throws AoError workspace_unsafe_path when the path is not this session's own worktree.
   * @throws AoError git_unavailable when git could not be asked.
   */
  inspect(ref: WorkspaceRef, seen?: readonly ProcessUse[]): Promise<readonly WorkspaceFinding[]>;

  /**
   * What `inspect` finds, and what would stay.
   *
   * @throws AoError as `inspect`.
   */
  survey(ref: WorkspaceRef, seen?: readonly ProcessUse[]): Promise<WorkspaceSurvey>;

  /**
   * One look at the processes that use any workspace, for many an `inspect` or `survey`. Only good for a plan:
   * `destroy` looks for itself.
   *
   * @throws AoError runtime_unavailable when the system would not tell.
   */
  users(): Promise<readonly ProcessUse[]>;

  /**
   * Frees it when nothing would be lost; branches stay. Takes the same time however much is in it: its files wait
   * for `sweepTrash`. Idempotent, and goes on where one that was broken off at any point has stopped. `onBranch`
   * is told which branch is checked out in it, before the first step that could not be gone back on: whoever puts that
   * on record has it whatever happens next. It is not called when no branch is checked out, also when one holds that
   * commit, nor when it is gone; what it throws ends the call, with nothing changed. `isKept` is asked when it holds
   * work that a salvage can hold, in the last moment; what it throws leaves the workspace where it was, and so does
   * what `fence` throws, which is asked before each step that changes something.
   *
   * @throws AoError workspace_dirty with `details.findings` when it holds anything that is not kept; untouched
   *   then.
   * @throws AoError as `inspect`.
   */
  destroy(ref: WorkspaceRef, onBranch?: OnBranch, isKept?: IsKept, fence?: Fence): Promise<void>;

  /**
   * Proof that a session's branch is needed no more: made for it, checked out nowhere but in its workspace, no
   * rebase of it under way, all its commits in the default branch or what that is pulled from, and none in its log
   * that no other ref has. `null` without one. Changes nothing.
   *
   * @throws AoError git_failed, git_unavailable when git could not tell.
   */
  mergedBranch(ref: WorkspaceRef, query: BranchQuery): Promise<MergedBranch | null>;

  /**
   * Deletes a branch while all of its proof still holds, and it stands where it did; no other ref is touched, no
   * remote asked. True when it is gone then, also when it was before.
   *
   * @throws AoError git_failed, git_unavailable.
   */
  deleteMerged(ref: WorkspaceRef, query: BranchQuery, proven: MergedBranch): Promise<boolean>;

  /**
   * Takes a `create` or a `restore` back: frees it as `destroy` does, and removes the branch that was made while
   * it still points where it began. Returns the branches that stay with commits that were made in it: the one it
   * had, and the one that was checked out last.
   *
   * @throws AoError as `destroy`; the branches are not touched then.
   */
  undoCreate(ref: WorkspaceRef, created: CreatedWorkspace, isKept?: IsKept): Promise<readonly KeptBranch[]>;

  /**
   * Everything below the managed root and on its way out of it that carries our mark or looks like it, by
   * path. Runs no program.
   *
   * @throws AoError data_dir_unusable when the managed root cannot be read.
   */
  marked(): Promise<readonly MarkedWorkspace[]>;

  /**
   * Deletes the files of removed workspaces that interrupted runs have left, and names what resists, which is left
   * for the next time. Others may do the same meanwhile.
   *
   * @throws AoError data_dir_unusable when it cannot be told what is there.
   */
  sweepTrash(): Promise<SweptTrash>;
}
