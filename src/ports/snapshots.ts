import type { Checkpoint } from "../domain/checkpoint.ts";
import type { FileChange } from "../domain/file-change.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Salvage, SalvageContent, SalvageReason, SpecialFile, Unkeepable } from "../domain/salvage.ts";
import type { TurnCheckpoint } from "../domain/turn.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Fence } from "./fence.ts";
import type { WorkspaceRef } from "./workspace.ts";

export interface SalvageRequest {
  readonly workspace: WorkspaceRef;
  readonly reason: SalvageReason;
  readonly atMs: number;
  /** Asked before each effect; nothing is done after it has thrown. */
  readonly fence?: Fence;
}

export type SalvageOutcome =
  | { readonly kind: "kept"; readonly ref: string; readonly commit: string }
  /** The branch has it all, and so there is nothing to keep. */
  | { readonly kind: "nothing" };

/** Something that is in the way of putting work back. */
export interface Conflict {
  /** Relative to the workspace; `HEAD` and `index` are git's own. */
  readonly path: string;
  readonly why: string;
}

/** A workspace, and a salvage of its session. */
export interface SalvageOfWorkspace {
  readonly workspace: WorkspaceRef;
  readonly ref: string;
}

/** A salvage that is to be put back. */
export interface PutBackRequest extends SalvageOfWorkspace {
  /** Asked before each effect; nothing is done after it has thrown. */
  readonly fence?: Fence;
}

export interface RewindRequest {
  readonly workspace: WorkspaceRef;
  readonly checkpointRef: string;
  /** Holds what is in the workspace now; `null` when the branch has all of it. */
  readonly salvageRef: string | null;
  /** Asked before each effect; nothing is done after it has thrown. */
  readonly fence?: Fence;
}

/** Two states of files; a commit is one of `ao`'s own, or any other. */
export interface ChangesRequest {
  readonly since: string;
  readonly now: { readonly workspace: WorkspaceRef } | { readonly commit: string };
}

/** What a put-back did. */
export interface PutBackReport {
  /** How many files it wrote or removed; 0 when all was there already. */
  readonly files: number;
  /** Sockets, devices, and pipes whose place is taken, that are not there as they were; absent for none. */
  readonly missing?: readonly SpecialFile[];
}

/**
 * Work in a workspace that no branch has, kept as commits in its repository and put back. Nothing here touches
 * HEAD, index, stash or reflog of the workspace, but for `putBack`. Behaviour every adapter owes:
 * test/contract/snapshots.contract.ts.
 */
export interface Snapshots extends Checkpoints {
  /**
   * Keeps everything that `Workspace.inspect` would keep a workspace for: files byte for byte with modes and
   * links, tracked, untracked, and the ignored ones that are work; empty folders and repositories inside; the
   * index; where HEAD stands; what is under way; commits that nothing else has. Of one whose folder somebody
   * deleted it keeps what git still has. Of pipes, sockets and devices, which hold nothing, it keeps the names. All of it was read back whole before this returns, and a crash of the
   * machine does not take it. The same state again is the same salvage. HEAD's log is not kept.
   *
   * @throws AoError workspace_dirty with `details.unkeepable` when there is something that it cannot hold;
   *   nothing is kept then.
   * @throws AoError busy when the workspace keeps changing while it is read.
   * @throws AoError workspace_unsafe_path, git_failed, git_unavailable.
   */
  salvage(request: SalvageRequest): Promise<SalvageOutcome>;

  /**
   * What `salvage` would refuse to keep the workspace for; nothing when it can hold all of it. Changes nothing.
   *
   * @throws AoError as `salvage`, but for workspace_dirty.
   */
  obstacles(workspace: WorkspaceRef): Promise<readonly Unkeepable[]>;

  /**
   * Whether all that `salvage` would keep now is in this salvage, to the last byte. Nothing at all is in each.
   *
   * @throws AoError as `salvage`, and salvage_not_found.
   */
  holds(request: SalvageOfWorkspace): Promise<boolean>;

  /**
   * Puts everything of a salvage back: staged as staged, untracked as untracked. Only what the branch has, or
   * what was put there when the workspace was made, is written over. Pipes come back empty, where nothing is. Anything else that differs is left, and
   * so is the rest then. Safe to repeat, also after it was broken off. Each file is compared once more as it goes.
   *
   * @throws AoError salvage_conflict with `details.conflicts`; nothing was changed, or nothing more from the moment
   *   on when somebody else changed a file: what they wrote stays.
   * @throws AoError salvage_not_found, busy, workspace_unsafe_path, git_failed, git_unavailable.
   */
  putBack(request: PutBackRequest): Promise<PutBackReport>;

  /**
   * The salvages of a repository, or of one session in it, by session and number.
   *
   * @throws AoError git_failed, git_unavailable.
   */
  list(repositoryPath: string, sessionId?: SessionId): Promise<readonly Salvage[]>;

  /** @throws AoError salvage_not_found, git_failed, git_unavailable. */
  show(repositoryPath: string, ref: string): Promise<SalvageContent>;

  /**
   * Gives a salvage up: git deletes what only it held some weeks later. One that is gone already is no error. No
   * other salvage gets its number.
   *
   * @throws AoError git_failed, git_unavailable.
   */
  drop(repositoryPath: string, ref: string): Promise<void>;

  /**
   * Takes a checkpoint. The first one of an end of a turn stands, unless it is taken anew: another try returns it.
   *
   * @throws AoError workspace_dirty when a file cannot be read, busy when the files keep changing.
   * @throws AoError workspace_unsafe_path, git_failed, git_unavailable.
   */
  take: Checkpoints["take"];

  /** The checkpoints of a session, in no order. @throws AoError git_failed, git_unavailable. */
  checkpoints(repositoryPath: string, sessionId: SessionId): Promise<readonly Checkpoint[]>;

  /**
   * Keeps the commit of a checkpoint also as the checkpoint of the end of a turn of another session. Idempotent.
   *
   * @throws AoError checkpoint_not_found, also when another commit has that name.
   * @throws AoError git_failed, git_unavailable.
   */
  adopt(
    repositoryPath: string,
    checkpointRef: string,
    as: Pick<Checkpoint, "sessionId" | "turnId">,
  ): Promise<TurnCheckpoint>;

  /**
   * What the files of a workspace, or of a commit, differ in from those of a commit; by path, ignored ones left out.
   * `null` when there is no such workspace. Changes nothing that anybody works with.
   *
   * @throws AoError checkpoint_not_found when there is no such commit; workspace_dirty, busy as `take`.
   * @throws AoError git_failed, git_unavailable.
   */
  changes(repositoryPath: string, request: ChangesRequest): Promise<readonly FileChange[] | null>;

  /**
   * Makes the files of a workspace those of a checkpoint; ignored ones, HEAD and index stay. Nothing is
   * written over or removed but what the salvage holds; each file is compared once more as it goes. Safe to repeat,
   * also after it was broken off.
   *
   * @throws AoError checkpoint_not_found, salvage_not_found.
   * @throws AoError salvage_conflict as `putBack`.
   * @throws AoError busy, workspace_unsafe_path, git_failed, git_unavailable.
   */
  rewind(request: RewindRequest): Promise<PutBackReport>;
}
