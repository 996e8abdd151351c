import { errorMessage, isAoError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { shellQuoted } from "../domain/shell-quoted.ts";
import type { RuntimeSpec, RuntimeTarget } from "../ports/runtime.ts";
import type { CreatedWorkspace, IsKept, WorkspacePlan, WorkspaceRef } from "../ports/workspace.ts";
import type { KeptBranch } from "../ports/workspace-facts.ts";
import type { SessionDeps } from "./deps.ts";
import { launchDir } from "./launch-agent.ts";
import type { Leftover } from "./leftover.ts";
import { type LifecycleDeps, lifecycleManager } from "./lifecycle-manager.ts";
import { crossing } from "./operations/crossing.ts";
import { removeLaunch } from "./teardown.ts";
import type { UndoStep } from "./undo.ts";
import { describeRefusal, isRefusal } from "./workspace-refusal.ts";

/** Digits of a commit that name it in any repository that a person works in. */
const SHORT = 12;

type UndoDeps = LifecycleDeps & Pick<SessionDeps, "workspace" | "boundary" | "files" | "agents" | "dataDir">;

/** A conversation that an agent was told to begin. */
interface NewConversation {
  readonly agent: string;
  readonly id: string;
}

interface UndoneWorkspace {
  readonly created: CreatedWorkspace;
  /** Asked when it holds work, whether all of that is kept elsewhere. */
  readonly isKept?: IsKept | undefined;
  /** The conversation that was begun in it. */
  readonly newConversation?: NewConversation | null;
}

/**
 * Takes a worktree back that this command made, and its branch; a row that is there learns of it. With it goes
 * what its agent wrote of a new conversation, as far as that is the agent's to forget. A worktree that holds
 * work stays, and so does the conversation of who did that; so does a branch with commits of its agent.
 */
export function undoWorkspace(
  deps: UndoDeps,
  ref: WorkspaceRef,
  { created, isKept, newConversation = null }: UndoneWorkspace,
): UndoStep {
  let kept: readonly Leftover[] = [];
  const undo = () => deps.workspace.undoCreate({ ...ref, path: created.path }, created, isKept);
  return {
    ...{ what: "worktree", where: created.path },
    parts: (error) => worktreeLeft(ref, created, error),
    kept: () => kept,
    async run() {
      const branches = await crossing(deps, "undo.workspace", undo).catch((error: unknown) =>
        failing(deps, ref.sessionId, { path: created.path, error }),
      );
      kept = branches.map((branch) => branchKept(ref, created, branch));
      if (newConversation !== null) {
        const { agent, id } = newConversation;
        await deps.agents.get(agent)?.forgetConversation?.(id, { dataDir: deps.dataDir });
      }
      lifecycleManager(deps).onWorkspaceFreed(ref.sessionId);
    },
  };
}

/** A row that says that there is no worktree is set right before the undo fails with its error. */
async function failing(
  deps: UndoDeps,
  id: SessionId,
  { path, error }: { readonly path: string; readonly error: unknown },
): Promise<never> {
  if (await deps.files.exists(path).catch(() => false)) lifecycleManager(deps).onWorkspaceRestored(id, path);
  throw error;
}

/** A worktree that an agent may have worked in: it stays, and is named. */
export function keptWorkspace(path: string): UndoStep {
  const left = { what: "worktree", where: path, why: "its agent ran in it", see: statusOf(path) };
  return { what: left.what, where: path, kept: () => [left], run: () => undefined };
}

type Made = Pick<CreatedWorkspace, "path" | "branch" | "branchCreated" | "baseCommit">;

/** A worktree that stays, and the branch that was made for it. One refused for what it holds is a person's to judge. */
function worktreeLeft(ref: WorkspaceRef, created: Made, error: unknown): readonly Leftover[] {
  const { path, branch, branchCreated } = created;
  const why = describeRefusal(error);
  const look = isAoError(error, "workspace_unsafe_path") ? `ls -la ${shellQuoted(path)}` : statusOf(path);
  const worktree = { what: "worktree", where: path, why };
  const branches = branchCreated ? [{ what: "branch", where: branch, why: "it is checked out there" }] : [];
  if (!isRefusal(error)) return [worktree, ...branches];
  return [{ ...worktree, see: look }, ...branches.map((one) => ({ ...one, see: log(ref, created, branch) }))];
}

function branchKept(ref: WorkspaceRef, created: CreatedWorkspace, { branch, commits }: KeptBranch): Leftover {
  const why = `it holds ${commits === 1 ? "1 commit" : `${commits ?? "some"} commits`} made since`;
  return { what: "branch", where: branch, why, see: log(ref, created, branch) };
}

function statusOf(path: string): string {
  return `git -C ${shellQuoted(path)} status --ignored`;
}

function log(
  { repositoryPath }: WorkspaceRef,
  { baseCommit }: Pick<Made, "baseCommit">,
  branch: string,
): string {
  return `git -C ${shellQuoted(repositoryPath)} log ${shellQuoted(`${baseCommit.slice(0, SHORT)}..${branch}`)}`;
}

/**
 * Takes a worktree back whose making was broken off: no agent ever ran in it. One that was complete, and that
 * somebody worked in since, stays; a row that is there learns of it.
 */
export function discardWorkspace(deps: UndoDeps, ref: WorkspaceRef, plan: WorkspacePlan): UndoStep {
  const { path, branch, baseCommit } = plan;
  const discard = () => deps.workspace.discard(ref, plan);
  return {
    ...{ what: "worktree", where: path },
    parts: (error) =>
      worktreeLeft(ref, { path, branch, baseCommit, branchCreated: !plan.branchExists }, error),
    async run() {
      await crossing(deps, "undo.discard", discard).catch((error: unknown) => {
        if (!isAoError(error, "workspace_dirty")) throw error;
        return failing(deps, ref.sessionId, { path, error });
      });
      lifecycleManager(deps).onWorkspaceFreed(ref.sessionId);
    },
  };
}

/** The conversation of a launch; `null` when its agent chooses its own. */
export function newConversationOf(agent: string, agentSessionId: string | null): NewConversation | null {
  return agentSessionId === null ? null : { agent, id: agentSessionId };
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
