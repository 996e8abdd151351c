import { dataLayout } from "../domain/data-layout.ts";
import { errorMessage } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { RuntimeSpec, RuntimeTarget } from "../ports/runtime.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceRef } from "../ports/workspace.ts";
import type { SessionDeps } from "./deps.ts";
import { type LifecycleDeps, lifecycleManager } from "./lifecycle-manager.ts";
import { crossing } from "./operations/crossing.ts";
import type { UndoStep } from "./undo.ts";

type UndoDeps = LifecycleDeps & Pick<SessionDeps, "workspace" | "boundary">;

/** Takes a worktree back that this command made, and its branch; a row that is there learns of it. */
export function undoWorkspace(deps: UndoDeps, ref: WorkspaceRef, created: CreatedWorkspace): UndoStep {
  const undo = () => deps.workspace.undoCreate({ ...ref, path: created.path }, created);
  return {
    what: "worktree",
    where: created.path,
    async run() {
      await crossing(deps, "undo.workspace", undo);
      lifecycleManager(deps).onWorkspaceFreed(ref.sessionId);
    },
  };
}

/** Takes a worktree back whose making was broken off: no agent ever ran in it. */
export function discardWorkspace(deps: UndoDeps, ref: WorkspaceRef, plan: WorkspacePlan): UndoStep {
  return {
    what: "worktree",
    where: plan.path,
    async run() {
      await crossing(deps, "undo.discard", () => deps.workspace.discard(ref, plan));
      lifecycleManager(deps).onWorkspaceFreed(ref.sessionId);
    },
  };
}

/** Removes the private files of a launch below `folder`, and what its agent reported of itself. */
export function undoLaunch(
  { files, inbox, boundary }: Pick<SessionDeps, "files" | "inbox" | "boundary">,
  { sessionId, launchId }: Pick<RuntimeSpec, "sessionId" | "launchId">,
  folder: string,
): UndoStep {
  return {
    what: "launch files",
    where: folder,
    async run() {
      await crossing({ boundary }, "undo.launch", () => files.removeTree(folder));
      const pending = await inbox.pending();
      const ours = pending.filter((event) => event.sessionId === sessionId && event.launchId === launchId);
      await inbox.remove(ours.map(({ id }) => id));
    },
  };
}

/** Removes what the agent of a failed start wrote of its new conversation, as far as it lies with `ao`. */
export function undoConversation(
  { files, boundary, dataDir }: Pick<SessionDeps, "files" | "boundary" | "dataDir">,
  agentSessionId: string | null,
): readonly UndoStep[] {
  if (agentSessionId === null) return [];
  const where = `${dataLayout(dataDir).embeddedConversations}/${agentSessionId}.jsonl`;
  const run = () => crossing({ boundary }, "undo.conversation", () => files.removeTree(where));
  return [{ what: "conversation", where, run }];
}

/** Ends the agent again. Its worktree and files stay while it cannot be ended. */
export function undoRuntime(
  deps: Pick<SessionDeps, "runtime" | "boundary">,
  target: RuntimeTarget,
): UndoStep {
  const { name, id, socketPath } = target.handle;
  return {
    what: `${name} session`,
    where: `${id} on ${socketPath}`,
    guardsEarlier: true,
    run: () => crossing(deps, "undo.runtime", () => deps.runtime.destroy(target)),
  };
}

/** Ends the row: there is no way to delete one. */
export function undoRow(deps: LifecycleDeps & Pick<SessionDeps, "boundary">, id: SessionId): UndoStep {
  return {
    what: "session",
    where: id,
    async run(cause) {
      const end = () => lifecycleManager(deps).onKillRequested(id, "error", errorMessage(cause));
      await crossing(deps, "undo.row", end);
    },
  };
}
