import type { TurnId } from "../domain/ids.ts";
import type { TurnCheckpoint, TurnEdge } from "../domain/turn.ts";
import type { WorkspaceRef } from "./workspace.ts";

export interface TakeOptions {
  /** No program that is waited for has longer than that, in milliseconds, all of them together. */
  readonly withinMs?: number;
  /** Another checkpoint of this end of the turn gives way to it: a turn that nobody recorded began later than that. */
  readonly isAnew?: boolean;
}

/** Keeps the files of a workspace as they are at the two ends of a turn. */
export interface Checkpoints {
  /**
   * Keeps all files as they are now; changes nothing that anybody works with. `null` when nothing can be kept of
   * this workspace.
   *
   * @throws AoError what kept it from looking; the turn goes without this checkpoint.
   */
  take(
    workspace: WorkspaceRef,
    turnId: TurnId,
    edge: TurnEdge,
    options?: TakeOptions,
  ): Promise<TurnCheckpoint | null>;
  /**
   * Gives the checkpoint of a turn up that did not begin. One that is not there is no error.
   *
   * @throws AoError git_failed, git_unavailable.
   */
  forget(workspace: WorkspaceRef, turnId: TurnId, edge: TurnEdge): Promise<void>;
}
