import { AoError } from "../../domain/errors.ts";
import { type GoalFence, isTombstoned } from "../../domain/goal.ts";
import type { SessionId } from "../../domain/ids.ts";
import { type Operation, type OperationId, parseOperationId } from "../../domain/operation.ts";
import { printable } from "../../domain/printable.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { GoalProvenance } from "../../domain/turn.ts";
import type { SessionDeps } from "../deps.ts";
import { insideTransaction } from "../operations/inside-transaction.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requestConflict } from "../operations/operation-errors.ts";
import { findOperation, type PrepareRequest } from "../operations/prepare-operation.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { requireSession } from "../session-refs.ts";
import { clearIdOf, fenceInputJson, fenceProgressJson, generationOf } from "./goal-progress.ts";
import { prepareControl } from "./prepare-control.ts";

export interface FenceRequest {
  /** The operation whose generation is revoked; that of the goal as it stands when absent. */
  readonly targetOperationId?: string;
  /** The caller's own name for it; the target when `null`. */
  readonly requestId: string | null;
  /** For people, for example `binding_revoked`. */
  readonly reason: string;
}

/**
 * Revokes a generation for ever, in one transaction: the fence, and a clear that counts only while the goal is at
 * that generation. Then the goal is gone and what was still to be given never is, whatever happens next; a newer
 * goal is left alone. A goal that a fence has cleared has that fence already.
 *
 * @throws AoError session_not_found
 * @throws AoError goal_absent when no order is named and there is no goal: it never was, or was cleared.
 * @throws AoError operation_not_found when the session has no such order.
 * @throws AoError request_conflict when the name, or the target, was used for another fence.
 */
export function prepareFence(deps: SessionDeps, id: SessionId, request: FenceRequest): Operation {
  return deps.store.transaction(() => {
    const inside = { ...deps, store: insideTransaction(deps.store) };
    return prepareInside(inside, requireSession(inside, id), request);
  });
}

function prepareInside(deps: SessionDeps, record: SessionRecord, request: FenceRequest): Operation {
  const known = request.targetOperationId === undefined ? fencedAlready(deps, record, request) : undefined;
  if (known !== undefined && request.requestId === null) return requireOperation(deps, known.operationId);
  const target = known?.target ?? targetOf(deps, record.id, request);
  const intent = intentOf(record, target.operationId, request);
  const earlier = findOperation(deps, intent);
  const clear = earlier === undefined ? conditionalClear(deps, record.id, { target, intent }) : null;
  const outcome = operationLedger(deps).prepare({ ...intent, progress: fenceProgressJson(clear) });
  if (outcome.kind === "conflict") throw requestConflict(outcome.operation);
  if (outcome.kind !== "created") return outcome.operation;
  const { projectId, id: sessionId } = record;
  const fence = {
    ...{ projectId, sessionId, target, operationId: outcome.operation.id, reason: request.reason },
    ...{ installedLaunchId: null, createdAtMs: deps.clock.nowMs() },
  };
  if (!deps.goals.insertFence(fence)) throw fencedBefore(sessionId, target);
  return outcome.operation;
}

function targetOf(
  deps: SessionDeps,
  sessionId: SessionId,
  { targetOperationId }: FenceRequest,
): GoalProvenance {
  if (targetOperationId === undefined) return standingGeneration(deps, sessionId);
  const id = parseOperationId(targetOperationId);
  const operation = id === undefined ? undefined : deps.operations.get(id);
  if (operation?.kind === "goal_control" && operation.sessionId === sessionId) return generationOf(operation);
  throw new AoError(
    "operation_not_found",
    `session ${sessionId} has no order ${printable(targetOperationId)}`,
    {
      hint: `ao goal show ${sessionId}`,
    },
  );
}

/** @throws AoError goal_absent */
function standingGeneration(deps: SessionDeps, sessionId: SessionId): GoalProvenance {
  const goal = deps.goals.state(sessionId);
  if (goal !== undefined && !isTombstoned(goal)) return goal.generation;
  const why = goal === undefined ? "has no goal" : "has no goal any more: it was cleared";
  throw new AoError("goal_absent", `session ${sessionId} ${why}; there is nothing to fence`, {
    hint: `a fence revokes an order that was given; to stop a turn that still works for one: ao cancel ${sessionId}`,
  });
}

/** The fence that a request without an order repeats: by its name, else that which cleared the goal. */
function fencedAlready(
  deps: SessionDeps,
  { id, projectId }: SessionRecord,
  { requestId }: FenceRequest,
): GoalFence | undefined {
  const fences = deps.goals.fences(id);
  if (requestId !== null) {
    const identity = { kind: "goal_fence", projectId, identifyingSessionId: id, subject: requestId } as const;
    const named = findOperation(deps, identity);
    return fences.find(({ operationId }) => operationId === named?.id);
  }
  const goal = deps.goals.state(id);
  if (goal === undefined || !isTombstoned(goal)) return undefined;
  const cleared = goal.generation.operationId;
  return fences.find(({ operationId }) => clearIdOf(requireOperation(deps, operationId)) === cleared);
}

function intentOf({ id, projectId }: SessionRecord, targetId: string, request: FenceRequest): PrepareRequest {
  return {
    ...{ kind: "goal_fence", projectId, sessionId: id, identifyingSessionId: id },
    subject: request.requestId ?? targetId,
    input: fenceInputJson(targetId, request.reason),
    progress: null,
  };
}

interface Clearing {
  readonly target: GoalProvenance;
  readonly intent: PrepareRequest;
}

/** Its operation; `null` when the goal has moved on. */
function conditionalClear(
  deps: SessionDeps,
  sessionId: SessionId,
  { target, intent }: Clearing,
): OperationId | null {
  const prepared = prepareControl(deps, sessionId, {
    ...{ action: "clear", objective: null, maxTurns: null, until: null },
    subject: `goal-generation-fence:${intent.subject}`,
    expectedRevision: target.revision,
  });
  return prepared.kind === "superseded" ? null : prepared.operation.id;
}

function fencedBefore(sessionId: SessionId, { operationId }: GoalProvenance): AoError {
  return new AoError(
    "request_conflict",
    `order ${operationId} of ${sessionId} was fenced before under another name`,
    {
      hint: `ao show ${sessionId}`,
      details: { sessionId, targetOperationId: operationId },
    },
  );
}
