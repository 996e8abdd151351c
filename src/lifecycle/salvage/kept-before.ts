import { isAoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { IsKept, WorkspaceRef } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { lifecycleManager } from "../lifecycle-manager.ts";

/**
 * Where the work is of a worktree that an earlier command took from its place and could not free whole: its row says
 * so. Nothing that git still has of it can tell. `null` when it stands, or that was dropped.
 *
 * @throws AoError as `Snapshots.holds`.
 */
export async function keptBefore(
  { store, files, snapshots }: Pick<SessionDeps, "store" | "files" | "snapshots">,
  workspace: WorkspaceRef,
): Promise<string | null> {
  const { workspacePath, salvageRef = null } = store.get(workspace.sessionId)?.metadata ?? {};
  if (salvageRef === null || workspacePath !== workspace.path || (await files.exists(workspace.path))) {
    return null;
  }
  try {
    await snapshots.holds({ workspace, ref: salvageRef });
    return salvageRef;
  } catch (error) {
    if (isAoError(error, "salvage_not_found")) return null;
    throw error;
  }
}

/** Knows whether all of a worktree was in its salvage when it was asked last. */
export interface AskedKept {
  readonly isKept: IsKept | undefined;
  /**
   * The row says where the work is when the worktree was to go with all of it kept, and is neither gone nor back where
   * it was: the next command that frees or restores it has nothing else to tell it.
   */
  noteLeft(id: SessionId, error: unknown): void;
}

/** `isKept` asks about the salvage at `ref`; nobody is asked without one. */
export function askedKept(
  deps: SessionDeps,
  { isKept, ref }: { readonly isKept: IsKept | undefined; readonly ref: string | null },
): AskedKept {
  let wasKept = false;
  const ask = async () => {
    wasKept = (await isKept?.()) === true;
    return wasKept;
  };
  return {
    isKept: isKept && ask,
    noteLeft(id, error) {
      if (ref === null || !wasKept || !isAoError(error, "teardown_incomplete")) return;
      lifecycleManager(deps).onWorkKept(id, ref);
    },
  };
}
