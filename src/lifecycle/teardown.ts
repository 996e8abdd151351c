import { dataLayout } from "../domain/data-layout.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { Fence } from "../ports/fence.ts";
import type { RuntimeSpec } from "../ports/runtime.ts";
import type { IsKept } from "../ports/workspace.ts";
import type { SessionDeps } from "./deps.ts";
import { launchDir } from "./launch-agent.ts";
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
  { isKept, fence }: { readonly isKept?: IsKept | undefined; readonly fence?: Fence | undefined } = {},
): Promise<void> {
  const onBranch = (branch: string) => {
    lifecycleManager(deps).onBranchCheckedOut(record.id, branch);
  };
  return deps.workspace.destroy(workspaceRef(record), onBranch, isKept, fence);
}

/** The private files of one launch, and the session's folder around them when it holds no other. */
export async function removeLaunch(
  { files, dataDir }: Pick<SessionDeps, "files" | "dataDir">,
  { sessionId, launchId }: Pick<RuntimeSpec, "sessionId" | "launchId">,
): Promise<void> {
  await files.removeTree(launchDir(dataDir, sessionId, launchId));
  await files.removeEmptyFolder(dataLayout(dataDir).launchDir(sessionId));
}

/** The same of a session that is over. Not once it was launched anew: its files are somebody else's then. */
export async function removeEndedLaunch(
  deps: Pick<SessionDeps, "store" | "files" | "dataDir">,
  { id, metadata: { launchId } }: SessionRecord,
): Promise<void> {
  if (deps.store.get(id)?.metadata.launchId === launchId)
    await removeLaunch(deps, { sessionId: id, launchId });
}
