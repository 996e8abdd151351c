import { dataLayout } from "../domain/data-layout.ts";
import { errorMessage } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { RuntimeSpec, RuntimeTarget } from "../ports/runtime.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceRef } from "../ports/workspace.ts";
import type { SessionDeps } from "./deps.ts";
import { launchDir } from "./launch-agent.ts";
import { type LifecycleDeps, lifecycleManager } from "./lifecycle-manager.ts";
import { crossing } from "./operations/crossing.ts";
import { removeLaunch } from "./teardown.ts";
import type { UndoStep } from "./undo.ts";

type UndoDeps = LifecycleDeps & Pick<SessionDeps, "workspace" | "boundary" | "files" | "dataDir">;

interface UndoneWorkspace {
  readonly created: CreatedWorkspace;
  /** The conversation that was begun in it. */
  readonly newConversation?: string | null;
}

/**
 * Takes a worktree back that this command made, and its branch; a row that is there learns of it. With it goes
 * what its agent wrote of a new conversation, as far as that lies in the data directory. A worktree that holds
 * work stays, and so does the conversation of who did that.
 */
export function undoWorkspace(
  deps: UndoDeps,
  ref: WorkspaceRef,
  { created, newConversation = null }: UndoneWorkspace,
): UndoStep {
  const undo = () => deps.workspace.undoCreate({ ...ref, path: created.path }, created);
  const worktree = { what: "worktree", where: created.path };
  const branch = { what: "branch", where: created.branch };
  return {
    ...worktree,
    parts: created.branchCreated ? [worktree, branch] : [worktree],
    async run() {
      await crossing(deps, "undo.workspace", undo);
      if (newConversation !== null) {
        await deps.files.removeTree(conversationFile(deps.dataDir, newConversation));
      }
      lifecycleManager(deps).onWorkspaceFreed(ref.sessionId);
    },
  };
}

/** Where the embedded agent would keep it; other agents keep theirs elsewhere. */
function conversationFile(dataDir: string, agentSessionId: string): string {
  return `${dataLayout(dataDir).embeddedConversations}/${agentSessionId}.jsonl`;
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

/** Removes the private files of a launch, and what its agent reported of itself. */
export function undoLaunch(
  deps: Pick<SessionDeps, "files" | "inbox" | "boundary" | "dataDir">,
  launch: Pick<RuntimeSpec, "sessionId" | "launchId">,
): UndoStep {
  const { inbox, dataDir } = deps;
  const { sessionId, launchId } = launch;
  return {
    what: "launch files",
    where: launchDir(dataDir, sessionId, launchId),
    async run() {
      await crossing(deps, "undo.launch", () => removeLaunch(deps, launch));
      const pending = await inbox.pending();
      const ours = pending.filter((event) => event.sessionId === sessionId && event.launchId === launchId);
      await inbox.remove(ours.map(({ id }) => id));
    },
  };
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
