import { type JsonValue, jsonMembers, toJson } from "../../domain/canonical-json.ts";
import { AoError, type AoErrorCode, EXIT_CODES } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { CompletedState, LeasedOperation, Operation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import { refuseRival } from "../launch-owner.ts";
import { lifecycleManager } from "../lifecycle-manager.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import {
  isFlag,
  isNullOr,
  isSessionId,
  isText,
  requireShape,
  type Shape,
} from "../operations/progress-members.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { afterFreed } from "../salvage/freed-error.ts";
import { type Freeing, keepAndFree, salvageOf } from "../salvage/keep-and-free.ts";
import { requireSession, runtimeTarget, sessionNotFound } from "../session-refs.ts";
import { removeEndedLaunch } from "../teardown.ts";
import { recordLastWords } from "../turns/last-words.ts";
import { isRefusal } from "../workspace-refusal.ts";
import { type KillOrder, refusedError, unendedError, unfreedError } from "./kill-errors.ts";

export interface KillResult {
  readonly id: SessionId;
  /** There is no worktree of this session any more. */
  readonly workspaceFreed: boolean;
  readonly alreadyTerminated: boolean;
  /** Where the work that was in it is kept; `null` when nothing was. */
  readonly salvageRef: string | null;
  /** Where the worktree still is; `null` when it was freed. */
  readonly workspacePath: string | null;
  /** How many messages wait in its queue, to be delivered after a restore. */
  readonly queuedMessages: number;
}

/** What a kill came to; `refusal` says why a worktree stays that was to be freed. */
export interface KillOutcome {
  readonly result: KillResult;
  readonly refusal: AoError | null;
}

/** The session of an operation that works on one. @throws AoError session_not_found */
function sessionOf(deps: SessionDeps, { sessionId }: LeasedOperation): SessionRecord {
  if (sessionId === null) throw sessionNotFound("");
  return requireSession(deps, sessionId);
}

/**
 * Everything of a kill after its intent is on record: ends the agent, frees the worktree, removes the launch
 * files, completes the operation. Each step may be repeated.
 *
 * @throws AoError teardown_incomplete when the agent could not be ended, the worktree not be judged or freed, or what
 *   comes after that not be done; `details.workspaceFreed` says whether the worktree is gone.
 * @throws AoError runtime_unavailable, store_corrupt for a session that was over before; nothing was changed.
 * @throws AoError operation_in_progress when another process carries it on.
 */
export async function finishKill(
  deps: SessionDeps,
  held: LeasedOperation,
  onStep?: OnStep,
): Promise<KillOutcome> {
  const record = sessionOf(deps, held);
  const order = orderOf(held);
  const { keepWorktree, salvage, alreadyTerminated } = order;
  onStep?.("ending agent");
  await endAgent(deps, record, order);
  const freed = await unfreed(record, order, async () => {
    const ended = () => operationLedger(deps).checkpoint(held, held.progress);
    await crossing(deps, "kill.ended", ended);
    // While there are files to keep a checkpoint of.
    await recordLastWords(deps, record.id);
    if (!keepWorktree) onStep?.("freeing worktree");
    return keepWorktree ? NOT_FREED : freeWorkspace(deps, { held, record, salvage, onStep });
  });
  const { refusal, salvageRef } = freed;
  const workspaceFreed = !keepWorktree && refusal === null;
  const end = async () => {
    await crossing(deps, "kill.launch.remove", () => removeEndedLaunch(deps, record));
    const result = killResult(deps, record, { workspaceFreed, alreadyTerminated, salvageRef });
    const isTold = refusal !== null && (salvage || !alreadyTerminated);
    const outcome = { result, refusal: isTold ? refusedError(refusal, result, order) : null };
    await completeKill(deps, held, outcome);
    return outcome;
  };
  const isGone = workspaceFreed && record.metadata.workspacePath !== "";
  return isGone ? afterFreed({ id: record.id, salvageRef }, end) : unfreed(record, order, end);
}

/** Runs what comes once the agent has ended, while the worktree is not freed. */
async function unfreed<Result>(
  record: SessionRecord,
  order: KillOrder,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw unfreedError(error, record, order);
  }
}

const RESULT_SHAPE: Shape = {
  id: isSessionId,
  workspaceFreed: isFlag,
  alreadyTerminated: isFlag,
  workspacePath: isNullOr(isText),
};

/**
 * The result of a kill that was carried out before.
 *
 * @throws AoError store_corrupt when it cannot be read.
 */
export function killOutcomeOf(operation: Operation<CompletedState>): KillOutcome {
  const value = { what: "state.result", json: operation.state.result };
  const { refusal = null, ...result } = requireShape(operation, value, RESULT_SHAPE);
  return {
    result: { ...result, queuedMessages: result["queuedMessages"] ?? 0 } as unknown as KillResult,
    refusal: refusal === null ? null : errorOf(refusal),
  };
}

/** What a kill tells of a session; names its worktree only when that stays. */
export function killResult(
  { messages }: Pick<SessionDeps, "messages">,
  { id, metadata }: SessionRecord,
  state: Pick<KillResult, "workspaceFreed" | "alreadyTerminated" | "salvageRef">,
): KillResult {
  const workspacePath = state.workspaceFreed ? null : metadata.workspacePath;
  return { id, ...state, workspacePath, queuedMessages: messages.queued(id).length };
}

function orderOf({ input, progress }: LeasedOperation) {
  return {
    keepWorktree: jsonMembers(input)?.["keepWorktree"] === true,
    salvage: jsonMembers(input)?.["salvage"] === true,
    alreadyTerminated: jsonMembers(progress)?.["alreadyTerminated"] === true,
  };
}

async function endAgent(
  deps: SessionDeps,
  record: SessionRecord,
  order: KillOrder & Pick<KillResult, "alreadyTerminated">,
): Promise<void> {
  const target = runtimeTarget(record);
  if (target === undefined) return;
  let isEnded = false;
  try {
    await refuseRival(deps, record);
    await crossing(deps, "kill.runtime.destroy", async () => {
      await deps.runtime.destroy(target);
      isEnded = true;
    });
  } catch (error) {
    if (isEnded) throw unfreedError(error, record, order);
    throw order.alreadyTerminated ? error : unendedError(error, record, order);
  }
}

interface Freed {
  /** Why a worktree has to stay; `null` when it is gone. */
  readonly refusal: AoError | null;
  readonly salvageRef: string | null;
}

const NOT_FREED: Freed = { refusal: null, salvageRef: null };

async function freeWorkspace(deps: SessionDeps, freeing: Freeing): Promise<Freed> {
  const { held, record } = freeing;
  if (record.metadata.workspacePath === "") return NOT_FREED;
  try {
    return { refusal: null, salvageRef: await keepAndFree(deps, freeing) };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { refusal: error, salvageRef: salvageOf(requireOperation(deps, held.id)) };
  }
}

/** Ends a kill with what it came to, together with the row when it freed the worktree. */
export async function completeKill(
  deps: SessionDeps,
  held: LeasedOperation,
  { result, refusal }: KillOutcome,
): Promise<void> {
  const stored = toJson({ ...result, refusal: refusal === null ? null : errorJson(refusal) });
  await crossing(deps, "kill.complete", () =>
    operationLedger(deps).complete(held, stored, (store) => {
      const { id, workspaceFreed, salvageRef } = result;
      if (workspaceFreed) lifecycleManager({ ...deps, store }).onWorkspaceFreed(id, salvageRef);
    }),
  );
}

function errorJson({ code, message, hint, details }: AoError) {
  return { code, message, hint, details };
}

function errorOf(refusal: JsonValue): AoError {
  const { code, message, hint, details } = jsonMembers(refusal) ?? {};
  return new AoError(isCode(code) ? code : "internal", String(message), {
    ...(typeof hint === "string" && { hint }),
    details: jsonMembers(details ?? null) ?? {},
  });
}

function isCode(text: JsonValue | undefined): text is AoErrorCode {
  return typeof text === "string" && Object.hasOwn(EXIT_CODES, text);
}
