import type { LeasedOperation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { StartedRuntime } from "../../ports/runtime.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import type { CreatedWorkspace, WorkspaceRef, WorkspaceSpec } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import {
  agentHome,
  type LaunchDraft,
  launchDir,
  launchEnvironment,
  openingOf,
  prepareLaunch,
} from "../launch-agent.ts";
import { lifecycleManager } from "../lifecycle-manager.ts";
import { crossing } from "../operations/crossing.ts";
import { fenceOf } from "../operations/fence-of.ts";
import { operationLedger } from "../operations/ledger.ts";
import { heldBy } from "../salvage/keep-and-free.ts";
import { keptHeadOf, keptRef, type PutBack, putKeptBack } from "../salvage/put-kept-back.ts";
import { runtimeTarget, workspaceRef } from "../session-refs.ts";
import { onceStarted, startRuntime } from "../start-runtime.ts";
import { namingLeft } from "../steps-left.ts";
import type { UndoStep } from "../undo.ts";
import { keptWorkspace, undoLaunch, undoRuntime, undoWorkspace } from "../undo-steps.ts";
import { branchCommitOf } from "./restore-draft.ts";
import type { RestoreOptions } from "./restore-options.ts";
import { type RestoreProgress, restoreProgressJson } from "./restore-progress.ts";
import type { RestoreResult } from "./restore-result.ts";
import { completeRestored } from "./restore-steps.ts";

/** What the steps of one restore work with. */
export interface Restore {
  readonly record: SessionRecord;
  readonly draft: LaunchDraft;
  readonly options: RestoreOptions;
  readonly held: LeasedOperation;
  readonly undo: UndoStep[];
}

/**
 * Carries a restore out that has begun: its worktree, the work that was kept, a new launch of its agent.
 *
 * @throws AoError as `Workspace.restore`, `Snapshots.putBack` and `Runtime.create`; `undo` holds what takes it back.
 */
export async function bringBack(deps: SessionDeps, restore: Restore): Promise<RestoreResult> {
  const { draft, held, undo } = restore;
  const progress = await restoreWorkspace(deps, restore);
  const started = await relaunch(deps, restore, progress);
  // From here on an agent may have worked in it.
  undo.splice(0);
  if (progress.plan !== null) undo.push(keptWorkspace(progress.created.path));
  const target = { sessionId: draft.sessionId, launchId: draft.launchId, ...started };
  undo.push(undoLaunch(deps, draft), undoRuntime(deps, target));
  return onceStarted(() => completeRestored(deps, held, { progress, started }));
}

async function restoreWorkspace(
  deps: SessionDeps,
  restore: Restore,
): Promise<RestoreProgress & { readonly created: CreatedWorkspace }> {
  const { record, draft, held, undo, options } = restore;
  const { launchId, agentSessionId } = draft;
  const ledger = operationLedger(deps);
  options.onStep?.("restoring worktree");
  const kept = keptRef(record, options.salvage);
  const spec = { ...workspaceSpec(deps, restore), ...(await keptHeadOf(deps, record, kept)) };
  const plan = await deps.workspace.planRestore(spec);
  const begins = draft.neverBegan === true ? { begins: true } : {};
  const opens = { ...begins, ...openingOf(draft) };
  const home = agentHome(draft.agent, spec.env, spec.path);
  const launch = { launchId, agentSessionId, agentHome: home };
  const planned = { ref: workspaceRef(record), plan, ...launch, created: null, ...opens };
  const isThere = (path: string) => (store: SessionStore) => {
    lifecycleManager({ ...deps, store }).onWorkspaceRestored(record.id, path);
  };
  const standing = plan === null ? isThere(spec.path) : undefined;
  await crossing(deps, "restore.planned", () =>
    ledger.checkpoint(held, restoreProgressJson(planned), standing),
  );
  const created = await crossing(deps, "restore.workspace.restore", async () => {
    const making = () => deps.workspace.restore(spec, plan);
    const restored = await namingLeft(undo, { what: "worktree", where: plan?.path ?? spec.path }, making);
    const isKept = heldBy(deps, planned.ref, kept);
    if (plan !== null) undo.push(undoWorkspace(deps, spec, { created: restored, isKept }));
    return restored;
  });
  const back = kept === null ? NOTHING_KEPT : await putBack(deps, planned.ref, { kept, held });
  const warnings = [...created.warnings, ...back.warnings];
  const progress = { ...planned, putBack: back.salvageRef, created: { ...created, warnings } };
  await crossing(deps, "restore.created", () =>
    ledger.checkpoint(held, restoreProgressJson(progress), isThere(created.path)),
  );
  return progress;
}

const NOTHING_KEPT: PutBack = { salvageRef: null, warnings: [] };

function putBack(
  deps: SessionDeps,
  workspace: WorkspaceRef,
  { kept, held }: { readonly kept: string; readonly held: LeasedOperation },
): Promise<PutBack> {
  return crossing(deps, "restore.put_back", () =>
    putKeptBack(deps, workspace, { ref: kept, fence: fenceOf(deps, held) }),
  );
}

async function relaunch(
  deps: SessionDeps,
  { record, draft, options, held, undo }: Restore,
  progress: RestoreProgress & { readonly created: CreatedWorkspace },
): Promise<StartedRuntime> {
  options.onStep?.("starting agent");
  undo.push(undoLaunch(deps, draft));
  const launch = { ...draft, workspacePath: progress.created.path };
  const spec = await crossing(deps, "restore.launch.files", () =>
    prepareLaunch(deps, launch, fenceOf(deps, held)),
  );
  await removeEndedLaunch(deps, record);
  const ready = () => operationLedger(deps).checkpoint(held, restoreProgressJson(progress));
  await crossing(deps, "restore.ready", ready);
  return startRuntime(deps, spec, { held, undo, boundary: "restore.runtime.create" });
}

/** A dead agent's terminal and files; its last output was there to be read until now. */
async function removeEndedLaunch(deps: SessionDeps, record: SessionRecord): Promise<void> {
  const target = runtimeTarget(record);
  if (target !== undefined) await crossing(deps, "restore.ended", () => deps.runtime.destroy(target));
  const folder = launchDir(deps.dataDir, record.id, record.metadata.launchId);
  await crossing(deps, "restore.ended.files", () => deps.files.removeTree(folder));
}

function workspaceSpec(deps: SessionDeps, { record, draft, options, held }: Restore): WorkspaceSpec {
  const project = deps.store.project(record.projectId);
  return {
    ...workspaceRef(record),
    branch: record.metadata.branch,
    baseRef: record.metadata.baseRef,
    ...branchCommitOf(record),
    defaultBranch: project?.defaultBranch ?? null,
    postCreate: options.settings.postCreate,
    env: launchEnvironment(deps, draft),
    operationId: held.id,
    fence: fenceOf(deps, held),
  };
}
