import { AoError } from "../../domain/errors.ts";
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
import { requireSession } from "../session-refs.ts";
import { fenceInputJson, fenceProgressJson, generationOf } from "./goal-progress.ts";
import { requireGoal } from "./goal-rows.ts";
import { prepareControl } from "./prepare-control.ts";

export interface FenceRequest {
  /** The operation whose generation is revoked; the newest order when absent. */
  readonly targetOperationId?: string;
  /** The caller's own name for it; the target when `null`. */
  readonly requestId: string | null;
  /** For people, for example `binding_revoked`. */
  readonly reason: string;
}

/**
 * Revokes a generation for ever, in one transaction: the fence, and a clear that counts only while the goal is at
 * that generation. Then the goal is gone and what was still to be given never is, whatever happens next; a newer
 * goal is left alone.
 *
 * @throws AoError session_not_found, goal_absent
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
  const target = targetOf(deps, record.id, request);
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
  if (targetOperationId === undefined) return requireGoal(deps, sessionId).generation;
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
