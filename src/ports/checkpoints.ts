import type { TurnId } from "../domain/ids.ts";
import type { TurnCheckpoint, TurnEdge } from "../domain/turn.ts";
import type { WorkspaceRef } from "./workspace.ts";

/** Keeps the files of a workspace as they are at the two ends of a turn. */
export interface Checkpoints {
  /**
   * Keeps all files as they are now; changes nothing that anybody works with. `null` when nothing can be kept of
   * this workspace. With `withinMs` no program that is waited for has longer than that, in milliseconds, all of
   * them together.
   *
   * @throws AoError what kept it from looking; the turn goes without this checkpoint.
   */
  take(
    workspace: WorkspaceRef,
    turnId: TurnId,
    edge: TurnEdge,
    withinMs?: number,
  ): Promise<TurnCheckpoint | null>;
}
