import { errorMessage, isAoError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { RuntimeSpec, StartedRuntime } from "../ports/runtime.ts";
import type { CreatedWorkspace, WorkspaceRef } from "../ports/workspace.ts";
import type { SessionDeps } from "./deps.ts";
import { type LifecycleDeps, lifecycleManager } from "./lifecycle-manager.ts";
import type { UndoStep } from "./undo.ts";

/** Takes a worktree back that this command made, and its branch; a row that is there learns of it. */
export function undoWorkspace(
  deps: LifecycleDeps & Pick<SessionDeps, "workspace">,
  ref: WorkspaceRef,
  created: CreatedWorkspace,
): UndoStep {
  return {
    what: "worktree",
    where: created.path,
    async run(cause) {
      // Another command of the same session was faster, and works in it now.
      if (isAoError(cause, "operation_in_progress")) return;
      await deps.workspace.undoCreate({ ...ref, path: created.path }, created);
      lifecycleManager(deps).onWorkspaceFreed(ref.sessionId);
    },
  };
}

/** Removes the private files of a launch below `folder`, and what its agent reported of itself. */
export function undoLaunch(
  { files, inbox }: Pick<SessionDeps, "files" | "inbox">,
  { sessionId, launchId }: Pick<RuntimeSpec, "sessionId" | "launchId">,
  folder: string,
): UndoStep {
  return {
    what: "launch files",
    where: folder,
    async run() {
      await files.removeTree(folder);
      const pending = await inbox.pending();
      const ours = pending.filter((event) => event.sessionId === sessionId && event.launchId === launchId);
      await inbox.remove(ours.map(({ id }) => id));
    },
  };
}

/** Ends the agent again. Its worktree and files stay while it cannot be ended. */
export function undoRuntime(
  { runtime }: Pick<SessionDeps, "runtime">,
  { sessionId, launchId }: Pick<RuntimeSpec, "sessionId" | "launchId">,
  { handle, process }: StartedRuntime,
): UndoStep {
  return {
    what: `${handle.name} session`,
    where: `${handle.id} on ${handle.socketPath}`,
    guardsEarlier: true,
    run: () => runtime.destroy({ sessionId, launchId, handle, process }),
  };
}

/** Ends the row: there is no way to delete one. */
export function undoRow(deps: LifecycleDeps, id: SessionId): UndoStep {
  return {
    what: "session",
    where: id,
    run: (cause) => void lifecycleManager(deps).onKillRequested(id, "error", errorMessage(cause)),
  };
}
