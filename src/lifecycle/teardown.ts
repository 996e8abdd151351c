import type { SessionRecord } from "../domain/session.ts";
import type { SessionDeps } from "./deps.ts";
import { type LifecycleDeps, lifecycleManager } from "./lifecycle-manager.ts";
import { workspaceRef } from "./session-refs.ts";

/**
 * Frees the worktree of a terminal session; what its row says is the branch that was checked out last, for a
 * restore to come back to. With a detached HEAD the row keeps the branch it had.
 *
 * @throws AoError as `Workspace.destroy`.
 */
export function destroyWorkspace(
  deps: LifecycleDeps & Pick<SessionDeps, "workspace">,
  record: SessionRecord,
): Promise<void> {
  return deps.workspace.destroy(workspaceRef(record), (branch) => {
    lifecycleManager(deps).onBranchCheckedOut(record.id, branch);
  });
}
