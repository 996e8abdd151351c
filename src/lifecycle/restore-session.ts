import type { SessionId } from "../domain/ids.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { StartedRuntime } from "../ports/runtime.ts";
import type { CreatedWorkspace, WorkspaceSpec } from "../ports/workspace.ts";
import type { OnStep, SessionDeps } from "./deps.ts";
import {
  checkLaunch,
  type LaunchDraft,
  launchDir,
  launchEnvironment,
  prepareLaunch,
} from "./launch-agent.ts";
import { lifecycleManager } from "./lifecycle-manager.ts";
import { draftRestore, observeEnded, type RestoreChoice } from "./restore-draft.ts";
import { runtimeTarget, workspaceRef } from "./session-refs.ts";
import { type UndoStep, withUndo } from "./undo.ts";
import { undoLaunch, undoRow, undoRuntime, undoWorkspace } from "./undo-steps.ts";

export interface RestoreOptions extends RestoreChoice {
  readonly onStep?: OnStep;
}

export interface RestoreResult {
  readonly record: SessionRecord;
  readonly fresh: boolean;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}

/** What the steps of one restore work with. */
interface Restore {
  readonly record: SessionRecord;
  readonly draft: LaunchDraft;
  readonly options: RestoreOptions;
}

interface Relaunched {
  readonly workspace: CreatedWorkspace;
  readonly started: StartedRuntime;
}

/**
 * Brings a terminated session back with its own files and conversation.
 *
 * @throws AoError session_not_found
 * @throws AoError not_restorable when it is not terminated, or its agent still runs.
 * @throws AoError agent_session_unknown when there is no conversation to take up; nothing was touched.
 * @throws AoError agent_not_found, agent_unavailable, runtime_unavailable before any side effect.
 * @throws AoError operation_in_progress when another restore was faster.
 * @throws AoError as `Workspace.restore` and `Runtime.create`; the session is still terminated then.
 */
export async function restoreSession(
  deps: SessionDeps,
  id: SessionId,
  options: RestoreOptions,
): Promise<RestoreResult> {
  const record = await observeEnded(deps, id);
  const draft = await draftRestore(deps, record, options);
  await checkLaunch(deps, draft);
  const restore = { record, draft, options };
  const relaunched = await withUndo((undo) => relaunch(deps, restore, undo));
  const restored = await withUndo((undo) => reopen(deps, restore, { relaunched, undo }));
  return { record: restored, fresh: options.fresh, warnings: relaunched.workspace.warnings };
}

/** Up to the runtime: nothing of it is left when it fails, and the row is not touched. */
async function relaunch(
  deps: SessionDeps,
  { record, draft, options }: Restore,
  undo: UndoStep[],
): Promise<Relaunched> {
  options.onStep?.("restoring worktree");
  const spec = workspaceSpec(deps, { record, draft, options });
  const existed = await deps.files.exists(spec.path);
  const workspace = await deps.workspace.restore(spec);
  if (!existed) undo.push(undoWorkspace(deps, spec, workspace));

  options.onStep?.("starting agent");
  const launch = { ...draft, workspacePath: workspace.path };
  undo.push(undoLaunch(deps, draft, launchDir(deps.dataDir, record.id, draft.launchId)));
  const runtimeSpec = await prepareLaunch(deps, launch);
  await removeEndedLaunch(deps, record);
  return { workspace, started: await deps.runtime.create(runtimeSpec) };
}

/** A dead agent's terminal and files; its last output was there to be read until now. */
async function removeEndedLaunch(deps: SessionDeps, record: SessionRecord): Promise<void> {
  const target = runtimeTarget(record);
  if (target !== undefined) await deps.runtime.destroy(target);
  await deps.files.removeTree(launchDir(deps.dataDir, record.id, record.metadata.launchId));
}

/** From the runtime on: the agent is ended again when it fails, the worktree never touched. */
async function reopen(
  deps: SessionDeps,
  { record, draft }: Restore,
  { relaunched, undo }: { readonly relaunched: Relaunched; readonly undo: UndoStep[] },
): Promise<SessionRecord> {
  const { started, workspace } = relaunched;
  const manager = lifecycleManager(deps);
  undo.push(undoLaunch(deps, draft, launchDir(deps.dataDir, record.id, draft.launchId)));
  undo.push(undoRuntime(deps, draft, started));
  manager.onRestoreInitiated(record.id, {
    launchId: draft.launchId,
    agentSessionId: draft.agentSessionId,
    workspacePath: workspace.path,
    runtime: started.handle,
    process: started.process,
  });
  undo.push(undoRow(deps, record.id));
  return manager.onSpawnCompleted(record.id, started);
}

function workspaceSpec(deps: SessionDeps, { record, draft, options }: Restore): WorkspaceSpec {
  const project = deps.store.project(record.projectId);
  return {
    ...workspaceRef(record),
    branch: record.metadata.branch,
    baseRef: record.metadata.baseRef,
    defaultBranch: project?.defaultBranch ?? null,
    postCreate: options.settings.postCreate,
    env: launchEnvironment(deps, draft),
    operationId: null,
  };
}
