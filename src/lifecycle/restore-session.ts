import { jsonMembers } from "../domain/canonical-json.ts";
import { AoError, isAoError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { LeasedOperation } from "../domain/operation.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { StartedRuntime } from "../ports/runtime.ts";
import type { SessionStore } from "../ports/session-store.ts";
import type { CreatedWorkspace, WorkspaceSpec } from "../ports/workspace.ts";
import type { OnStep, SessionDeps } from "./deps.ts";
import { restoreFences } from "./goals/restore-fences.ts";
import {
  checkLaunch,
  type LaunchDraft,
  launchDir,
  launchEnvironment,
  openingOf,
  prepareLaunch,
} from "./launch-agent.ts";
import { refuseRival } from "./launch-owner.ts";
import { lifecycleManager } from "./lifecycle-manager.ts";
import { withFirstPrompt } from "./messages/first-prompt.ts";
import {
  type Attempt,
  type Busy,
  beginOnce,
  obstacleTo,
  type Repeat,
  untilFree,
} from "./operations/begin-once.ts";
import { carryOut } from "./operations/carry-out.ts";
import { crossing } from "./operations/crossing.ts";
import { fenceOf } from "./operations/fence-of.ts";
import { operationLedger } from "./operations/ledger.ts";
import { operationInProgress } from "./operations/operation-errors.ts";
import type { PrepareRequest } from "./operations/prepare-operation.ts";
import { warningsIn } from "./operations/progress-members.ts";
import { recoverOperations } from "./recovery/recover-operations.ts";
import type { RequestOptions, WaitOptions } from "./request-options.ts";
import { branchCommitOf, draftRestore, observeEnded, type RestoreChoice } from "./restore-draft.ts";
import { type RestoreProgress, restoreProgressJson } from "./restore-progress.ts";
import { completeRestored } from "./restore-steps.ts";
import { heldBy } from "./salvage/keep-and-free.ts";
import { keptHeadOf, keptRef, putKeptBack } from "./salvage/put-kept-back.ts";
import { requireSession, runtimeTarget, workspaceRef } from "./session-refs.ts";
import { startRuntime } from "./start-runtime.ts";
import { namingLeft } from "./steps-left.ts";
import type { UndoStep } from "./undo.ts";
import { undoLaunch, undoRuntime, undoWorkspace } from "./undo-steps.ts";

export interface RestoreOptions extends RestoreChoice, RequestOptions, WaitOptions {
  /** Puts the work back that was kept when the worktree was freed; yes when not given. */
  readonly salvage?: boolean;
  readonly onStep?: OnStep;
}

export interface RestoreResult {
  readonly record: SessionRecord;
  readonly fresh: boolean;
  /** The salvage that this call put back; `null` when there was none. */
  readonly salvageRef: string | null;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}

const NEVER_BEGAN = "its conversation never had a prompt, so a new one was begun with the recorded prompt";

/** What the steps of one restore work with. */
interface Restore {
  readonly record: SessionRecord;
  readonly draft: LaunchDraft;
  readonly options: RestoreOptions;
  readonly held: LeasedOperation;
  readonly undo: UndoStep[];
}

/**
 * Brings a terminated session back with its own files and conversation.
 *
 * @throws AoError session_not_found, request_conflict
 * @throws AoError operation_in_progress when another operation of it is under way, to the end of `waitMs`.
 * @throws AoError not_restorable when it is not terminated, or its agent still runs.
 * @throws AoError store_corrupt when another live session's row names its last launch; nothing was changed.
 * @throws AoError agent_session_unknown when there is no conversation to take up; nothing was touched.
 * @throws AoError agent_not_found, agent_unavailable, runtime_unavailable, git_unavailable before any side effect.
 * @throws AoError as `Workspace.restore` and `Runtime.create`; the session is still terminated then.
 */
export async function restoreSession(
  deps: SessionDeps,
  id: SessionId,
  options: RestoreOptions,
): Promise<RestoreResult> {
  return untilFree(deps, options.waitMs ?? 0, () => tryRestore(deps, id, options));
}

async function tryRestore(
  deps: SessionDeps,
  id: SessionId,
  options: RestoreOptions,
): Promise<Attempt<RestoreResult>> {
  await recoverOperations(deps);
  const intent = intentOf(deps, requireSession(deps, id), options);
  const obstacle = obstacleTo(deps, intent);
  if (obstacle !== null) return asAttempt(deps, obstacle, options);
  const ended = await endedOrBusy(deps, intent, id);
  if (ended.kind === "busy") return ended;
  const { record } = ended;
  await refuseRival(deps, record);
  const draft = await draftRestore(deps, record, options);
  await checkLaunch(deps, draft);
  const begun = await beginOnce(deps, intent, (store) => refuseMoved(store, record));
  if (begun.kind !== "begun") return asAttempt(deps, begun, options);
  const held = begun.operation;
  const restored = await carryOut(deps, held, (undo) =>
    bringBack(deps, { record, draft, options, held, undo }),
  );
  const untold = await restoreFences(deps, restored.record);
  const told = { ...restored, warnings: [...restored.warnings, ...untold] };
  return { kind: "done", result: await withFirstPrompt(deps, told) };
}

/** One that was found not to be over may be on its way there: then it is busy. */
async function endedOrBusy(
  deps: SessionDeps,
  intent: PrepareRequest,
  id: SessionId,
): Promise<Busy | { readonly kind: "ended"; readonly record: SessionRecord }> {
  try {
    return { kind: "ended", record: await observeEnded(deps, id) };
  } catch (error) {
    const obstacle = isAoError(error, "not_restorable") ? obstacleTo(deps, intent) : null;
    if (obstacle?.kind === "busy") return obstacle;
    throw error;
  }
}

function intentOf(
  { ids }: SessionDeps,
  { id, projectId }: SessionRecord,
  { fresh, salvage, requestId }: RestoreOptions,
): PrepareRequest {
  return {
    ...{ kind: "restore", projectId, sessionId: id, identifyingSessionId: id },
    subject: requestId ?? ids.uuid(),
    input: { fresh, ...(salvage === false && { salvage }) },
    progress: null,
  };
}

function asAttempt(
  deps: SessionDeps,
  obstacle: Busy | Repeat,
  { fresh }: RestoreOptions,
): Attempt<RestoreResult> {
  if (obstacle.kind === "busy") return obstacle;
  const { sessionId, state } = obstacle.operation;
  if (sessionId === null) throw operationInProgress(obstacle.operation);
  const record = requireSession(deps, sessionId);
  const warnings = warningsIn(state.result);
  const { fresh: wasFresh = fresh, salvageRef = null } = jsonMembers(state.result) ?? {};
  const told = { fresh: wasFresh === true, salvageRef: typeof salvageRef === "string" ? salvageRef : null };
  return { kind: "done", result: { record, ...told, warnings } };
}

/** What was found out of the session holds no more when another command was faster. */
function refuseMoved(store: SessionStore, { id, metadata }: SessionRecord): void {
  const row = store.get(id);
  const isSame = row?.metadata.launchId === metadata.launchId && isTerminal(row.lifecycle);
  if (isSame) return;
  throw new AoError("operation_in_progress", `session ${id} was restored by another process just now`, {
    hint: `ao show ${id}`,
  });
}

async function bringBack(deps: SessionDeps, restore: Restore): Promise<RestoreResult> {
  const { draft, held, undo, options } = restore;
  const progress = await restoreWorkspace(deps, restore);
  const started = await relaunch(deps, restore, progress);
  // From here on an agent may have worked in it.
  undo.splice(0);
  const target = { sessionId: draft.sessionId, launchId: draft.launchId, ...started };
  undo.push(undoLaunch(deps, draft), undoRuntime(deps, target));
  const begins = draft.neverBegan === true;
  const told = {
    fresh: options.fresh || begins,
    salvageRef: keptRef(restore.record, options.salvage),
    warnings: [...(begins ? [NEVER_BEGAN] : []), ...progress.created.warnings],
  };
  const record = await completeRestored(deps, held, { progress, started, told });
  return { record, ...told };
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
  const planned = { ref: workspaceRef(record), plan, launchId, agentSessionId, created: null, ...opens };
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
  const putBack = () => putKeptBack(deps, planned.ref, { ref: kept, fence: fenceOf(deps, held) });
  const warnings = kept === null ? [] : await crossing(deps, "restore.put_back", putBack);
  const progress = { ...planned, created: { ...created, warnings: [...created.warnings, ...warnings] } };
  await crossing(deps, "restore.created", () =>
    ledger.checkpoint(held, restoreProgressJson(progress), isThere(created.path)),
  );
  return progress;
}

async function relaunch(
  deps: SessionDeps,
  { record, draft, options, held, undo }: Restore,
  progress: RestoreProgress & { readonly created: CreatedWorkspace },
): Promise<StartedRuntime> {
  options.onStep?.("starting agent");
  undo.push(undoLaunch(deps, draft));
  const launch = { ...draft, workspacePath: progress.created.path };
  const spec = await crossing(deps, "restore.launch.files", () => prepareLaunch(deps, launch));
  await removeEndedLaunch(deps, record);
  const ready = () => operationLedger(deps).checkpoint(held, restoreProgressJson(progress));
  await crossing(deps, "restore.ready", ready);
  return startRuntime(deps, spec, { undo, boundary: "restore.runtime.create" });
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
  };
}
