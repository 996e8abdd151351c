import { type AgentExit, exitSeen } from "../../domain/agent-exit.ts";
import type { KillReason } from "../../domain/apply-requests.ts";
import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import { refuseRival } from "../launch-owner.ts";
import { type LifecycleManager, lifecycleManager } from "../lifecycle-manager.ts";
import { requireSight } from "../live-target.ts";
import { lookFailures } from "../observe/gather-facts.ts";
import {
  type Attempt,
  type Begun,
  type Busy,
  beginOnce,
  obstacleTo,
  type Repeat,
  untilFree,
} from "../operations/begin-once.ts";
import { carryForward } from "../operations/carry-forward.ts";
import type { PrepareRequest } from "../operations/prepare-operation.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import type { RequestOptions, WaitOptions } from "../request-options.ts";
import { requireTool } from "../require-tool.ts";
import { requireSession, runtimeTarget } from "../session-refs.ts";
import { recordLastWords } from "../turns/last-words.ts";
import { giveWay } from "./give-way.ts";
import {
  completeKill,
  finishKill,
  type KillOutcome,
  type KillResult,
  killOutcomeOf,
  killResult,
} from "./kill-steps.ts";

/** Tries for a session that others keep changing; each loses only to a command that was carried out. */
const MAX_TRIES = 20;

export interface KillOptions extends RequestOptions, WaitOptions {
  readonly reason: KillReason;
  readonly note: string | null;
  readonly keepWorktree: boolean;
  /** Keeps the work of the worktree and frees it then, rather than let it stay; no when not given. */
  readonly salvage?: boolean;
  /** The session that the command runs in (`AO_SESSION_ID`); `null` outside of one. */
  readonly callerSessionId: SessionId | null;
  readonly onStep?: OnStep;
}

/**
 * Ends a session: the intent is recorded, the agent ended, then the worktree freed when nothing in it
 * would be lost. Killing a terminated session finishes what an earlier kill left.
 *
 * @throws AoError session_not_found, inside_session, request_conflict
 * @throws AoError operation_in_progress when another operation of it is under way, to the end of `waitMs`.
 * @throws AoError not_running when no runtime was ever recorded; nothing was changed.
 * @throws AoError workspace_dirty, workspace_unsafe_path when the worktree is refused; the session is
 *   terminated, the worktree untouched, `details` is the result with `findings`. For a session that was
 *   terminated before only with `salvage`.
 * @throws AoError store_corrupt when another live session's row names its launch; nothing was changed.
 * @throws AoError runtime_unavailable, git_unavailable when the agent or the worktree could not be looked at;
 *   nothing was changed.
 * @throws AoError teardown_incomplete when the session is terminated and its agent could not be ended, its worktree
 *   not be judged or freed, or the kill not be ended: `details.code` says why, `details.workspaceFreed` whether the
 *   worktree is gone. The next command finishes it.
 */
export async function killSession(
  deps: SessionDeps,
  id: SessionId,
  options: KillOptions,
): Promise<KillResult> {
  const attempt = () => tryUnmoved(deps, id, options);
  const { result, refusal } = await untilFree(deps, options.waitMs ?? 0, attempt);
  await recordLastWords(deps, id);
  if (refusal !== null) throw refusal;
  return result;
}

/** What was found of a session counts only while it still stands when the kill begins. */
async function tryUnmoved(
  deps: SessionDeps,
  id: SessionId,
  options: KillOptions,
): Promise<Attempt<KillOutcome>> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const attempt = await tryKill(deps, id, options);
    if (attempt !== "moved") return attempt;
  }
  throw new AoError(
    "operation_in_progress",
    `session ${id} was changed by others ${MAX_TRIES} times in a row`,
    {
      hint: "try again",
    },
  );
}

async function tryKill(
  deps: SessionDeps,
  id: SessionId,
  options: KillOptions,
): Promise<Attempt<KillOutcome> | "moved"> {
  await recoverOperations(deps);
  const found = requireSession(deps, id);
  refuseFromInside(id, options.callerSessionId);
  const intent = intentOf(deps, found, options);
  const obstacle = obstacleTo(deps, intent);
  if (obstacle !== null) return (await isOvercome(deps, obstacle)) ? "moved" : asAttempt(obstacle);
  if (isFree(found)) return finishFree(deps, { intent, found, requestId: options.requestId ?? null });
  refuseWithoutHandles(found);
  await refuseRival(deps, found);
  const [exit] = await Promise.all([exitOf(deps, found), refuseWithoutGit(deps, found, options)]);

  const begun = await beginUnmoved(deps, { intent, found }, (manager) => {
    if (exit !== null) manager.onAgentExited(id, exit, found.metadata.launchId);
    manager.onKillRequested(id, options.reason, options.note);
  });
  if (begun === "moved") return begun;
  if (begun.kind !== "begun") return asAttempt(begun);
  const held = begun.operation;
  const result = await carryForward(deps, held, () => finishKill(deps, held, options.onStep));
  return { kind: "done", result };
}

/** What an earlier one left, and could not be carried on just now, is asked for anew with this one. */
async function isOvercome(deps: SessionDeps, obstacle: Busy | Repeat): Promise<boolean> {
  return obstacle.kind === "busy" && (await giveWay(deps, obstacle.operation));
}

async function beginUnmoved(
  deps: SessionDeps,
  { intent, found }: { readonly intent: PrepareRequest; readonly found: SessionRecord },
  request: (manager: LifecycleManager) => void,
): Promise<Begun | Busy | Repeat | "moved"> {
  const moved = new AoError("operation_in_progress", `session ${found.id} was changed by another process`);
  try {
    return await beginOnce(deps, intent, (store) => {
      if (hasMoved(store.get(found.id), found)) throw moved;
      request(lifecycleManager({ ...deps, store }));
    });
  } catch (error) {
    if (error === moved) return "moved";
    throw error;
  }
}

function hasMoved(row: SessionRecord | undefined, found: SessionRecord): boolean {
  return (
    row?.metadata.launchId !== found.metadata.launchId ||
    row.metadata.workspaceFreedAtMs !== found.metadata.workspaceFreedAtMs ||
    isTerminal(row.lifecycle) !== isTerminal(found.lifecycle)
  );
}

function intentOf({ ids }: SessionDeps, found: SessionRecord, options: KillOptions): PrepareRequest {
  const { reason, note, keepWorktree, salvage, requestId } = options;
  return {
    kind: "kill",
    projectId: found.projectId,
    sessionId: found.id,
    identifyingSessionId: found.id,
    subject: requestId ?? ids.uuid(),
    input: { reason, note, keepWorktree, ...(salvage === true && { salvage }) },
    progress: { alreadyTerminated: isTerminal(found.lifecycle) },
  };
}

function asAttempt(obstacle: Busy | Repeat): Attempt<KillOutcome> {
  return obstacle.kind === "busy" ? obstacle : { kind: "done", result: killOutcomeOf(obstacle.operation) };
}

interface Free {
  readonly intent: PrepareRequest;
  readonly found: SessionRecord;
  readonly requestId: string | null;
}

/** There is nothing to do. That is on record all the same under a request id: its repeat never ends a later launch. */
async function finishFree(
  deps: SessionDeps,
  { intent, found, requestId }: Free,
): Promise<Attempt<KillOutcome> | "moved"> {
  const outcome = { result: freeAlready(deps, found), refusal: null };
  if (requestId === null) return { kind: "done", result: outcome };
  const begun = await beginUnmoved(deps, { intent, found }, () => undefined);
  if (begun === "moved") return begun;
  if (begun.kind !== "begun") return asAttempt(begun);
  const held = begun.operation;
  await carryForward(deps, held, () => completeKill(deps, held, outcome));
  return { kind: "done", result: outcome };
}

function refuseFromInside(id: SessionId, callerSessionId: SessionId | null): void {
  if (id !== callerSessionId) return;
  throw new AoError("inside_session", `session ${id} cannot end itself`, {
    hint: `run it from outside: ao kill ${id}`,
  });
}

function freeAlready(deps: SessionDeps, found: SessionRecord): KillResult {
  const salvageRef = found.metadata.salvageRef ?? null;
  return killResult(deps, found, { workspaceFreed: true, alreadyTerminated: true, salvageRef });
}

function isFree({ lifecycle, metadata }: SessionRecord): boolean {
  return isTerminal(lifecycle) && metadata.workspaceFreedAtMs !== null;
}

/** A terminated session may lack them: its start failed. There is less to do then, not more. */
function refuseWithoutHandles({ id, lifecycle, metadata }: SessionRecord): void {
  const isComplete = metadata.runtime !== null && metadata.workspacePath !== "";
  if (isComplete || isTerminal(lifecycle)) return;
  const what = metadata.runtime === null ? "runtime" : "worktree";
  throw new AoError("not_running", `session ${id} has no ${what} recorded`, { hint: "ao doctor" });
}

/**
 * How its agent ended if it has, before what tells of that is taken away. An end that could not be carried out
 * must not be on record: the session would look over and run.
 *
 * @throws AoError runtime_unavailable when it could not look.
 */
async function exitOf({ runtime }: SessionDeps, record: SessionRecord): Promise<AgentExit | null> {
  const target = isTerminal(record.lifecycle) ? undefined : runtimeTarget(record);
  if (target === undefined) return null;
  const seen = await runtime.look([target]);
  requireSight(lookFailures({ seen }));
  const found = seen.get(record.id);
  return found === undefined ? null : exitSeen(found.runtime);
}

/** Without git nobody could tell afterwards whether the worktree may go. */
async function refuseWithoutGit(
  { workspace }: SessionDeps,
  { metadata }: SessionRecord,
  { keepWorktree }: KillOptions,
): Promise<void> {
  const isToFree = metadata.workspacePath !== "" && metadata.workspaceFreedAtMs === null;
  if (!keepWorktree && isToFree) requireTool("git_unavailable", "git", await workspace.check());
}
