import { jsonMembers } from "../../domain/canonical-json.ts";
import { AoError, errorMessage, isAoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import type { SessionDeps } from "../deps.ts";
import { restoreFences } from "../goals/restore-fences.ts";
import { giveWay, mayGiveWay } from "../kill/give-way.ts";
import { checkLaunch } from "../launch-agent.ts";
import { refuseRival } from "../launch-owner.ts";
import { withFirstPrompt } from "../messages/first-prompt.ts";
import {
  type Attempt,
  type Busy,
  beginOnce,
  obstacleTo,
  type Repeat,
  untilFree,
} from "../operations/begin-once.ts";
import { carryOut } from "../operations/carry-out.ts";
import { operationInProgress } from "../operations/operation-errors.ts";
import type { PrepareRequest } from "../operations/prepare-operation.ts";
import { warningsIn } from "../operations/progress-members.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import { requireSession } from "../session-refs.ts";
import { bringBack } from "./bring-back.ts";
import { draftRestore, observeEnded } from "./restore-draft.ts";
import type { RestoreOptions } from "./restore-options.ts";
import type { RestoreResult } from "./restore-result.ts";

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
  if (obstacle !== null) {
    if (await isOvercome(deps, intent, obstacle)) return tryRestore(deps, id, options);
    return asAttempt(deps, obstacle, options);
  }
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
  const untold = await restoreFences(deps, restored.record).catch(fencesUntold);
  const told = { ...restored, warnings: [...restored.warnings, ...untold] };
  return { kind: "done", result: await withFirstPrompt(deps, told) };
}

/** A kill that ended the agent, and whose worktree stays as it cannot be freed, holds up no restore. */
async function isOvercome(
  deps: SessionDeps,
  intent: PrepareRequest,
  obstacle: Busy | Repeat,
): Promise<boolean> {
  const { operation } = obstacle;
  if (operation.sessionId === null || !mayGiveWay(operation)) return false;
  const ended = await endedOrBusy(deps, intent, operation.sessionId);
  return ended.kind === "ended" && (await giveWay(deps, operation));
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

/** The session is open and its agent runs all the same; nothing of a revoked order is delivered to it either way. */
function fencesUntold(error: unknown): readonly string[] {
  return [`the agent was not told which orders of its goal are revoked: ${errorMessage(error)}`];
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
