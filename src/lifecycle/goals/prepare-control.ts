import { AoError } from "../../domain/errors.ts";
import type { GoalState } from "../../domain/goal.ts";
import { decideControl, type GoalControl } from "../../domain/goal-transitions.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { Operation, OperationId } from "../../domain/operation.ts";
import { supersedeOperation } from "../../domain/operation-transitions.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { notRunning } from "../live-target.ts";
import { insideTransaction } from "../operations/inside-transaction.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requestConflict } from "../operations/operation-errors.ts";
import { findOperation, type PrepareRequest } from "../operations/prepare-operation.ts";
import { requireSession } from "../session-refs.ts";
import { goalControlJson, goalProgressJson, goalResult } from "./goal-progress.ts";
import { goalAbsent, saveForced, saveGoal, withdrawQueued } from "./goal-rows.ts";

export interface ControlRequest extends GoalControl {
  /** The caller's own name for it; a repeat finds it by that. */
  readonly subject: string;
  /** The order is void when the goal has another revision by now. */
  readonly expectedRevision?: number;
}

export type PreparedControl =
  /** Written just now. */
  | { readonly kind: "created"; readonly operation: Operation; readonly state: GoalState }
  /** It was given before. */
  | { readonly kind: "found"; readonly operation: Operation }
  /** A newer order came first; nothing was written. */
  | { readonly kind: "superseded" };

/**
 * Puts an order on record, in one transaction: the operation, the goal with its next revision, the end of the
 * operation that was under way, and the end of what was queued for the goal.
 *
 * @throws AoError session_not_found
 * @throws AoError request_conflict when the caller gave another order under that name.
 * @throws AoError goal_absent when there is no goal to pause or resume.
 * @throws AoError goal_unsupported, not_running when its agent could not work for a goal; nothing was written.
 */
export function prepareControl(deps: SessionDeps, id: SessionId, request: ControlRequest): PreparedControl {
  return deps.store.transaction(() => {
    const inside = { ...deps, store: insideTransaction(deps.store) };
    return prepareInside(inside, requireSession(inside, id), request);
  });
}

function prepareInside(deps: SessionDeps, record: SessionRecord, request: ControlRequest): PreparedControl {
  const { id: sessionId } = record;
  const stored = deps.goals.state(sessionId);
  const revision = stored?.generation.revision ?? 0;
  const intent = intentOf(record, request, revision + 1);
  const isVoid = request.expectedRevision !== undefined && request.expectedRevision !== revision;
  if (isVoid && findOperation(deps, intent) === undefined) return { kind: "superseded" };
  const outcome = operationLedger(deps).prepare(intent);
  if (outcome.kind === "conflict") throw requestConflict(outcome.operation);
  if (outcome.kind !== "created") return { kind: "found", operation: outcome.operation };
  const state = ordered(deps, record, { stored, request, operationId: outcome.operation.id });
  supersedePending(deps, stored);
  withdrawQueued(deps, sessionId, "its goal was changed");
  saveGoal(deps, state);
  return { kind: "created", operation: outcome.operation, state };
}

function intentOf(
  { id, projectId }: SessionRecord,
  request: ControlRequest,
  revision: number,
): PrepareRequest {
  return {
    ...{ kind: "goal_control", projectId, sessionId: id, identifyingSessionId: id },
    subject: request.subject,
    input: goalControlJson(request),
    progress: goalProgressJson({ revision, repairEpoch: 0, dispatched: null, accepted: null }),
  };
}

interface Ordering {
  readonly stored: GoalState | undefined;
  readonly request: ControlRequest;
  readonly operationId: OperationId;
}

/** Whatever is thrown here takes the operation back with the transaction. */
function ordered(
  deps: SessionDeps,
  record: SessionRecord,
  { stored, request, operationId }: Ordering,
): GoalState {
  const { id: sessionId, projectId } = record;
  const decision = decideControl(stored, request, {
    ...{ projectId, sessionId, operationId, nowMs: deps.clock.nowMs() },
    expectedRevision: request.expectedRevision ?? null,
  });
  if (decision.kind !== "ordered") throw goalAbsent(sessionId);
  if (request.action === "set" || request.action === "resume") refuseUnfit(deps, record);
  return decision.state;
}

/** Without hooks nobody knows when the agent rests; of a session that is over nobody works for a goal. */
function refuseUnfit({ agents }: SessionDeps, record: SessionRecord): void {
  const { metadata, lifecycle } = record;
  const agent = agents.get(metadata.agent);
  if (isTerminal(lifecycle)) throw notRunning(record);
  if (agent?.goal !== undefined || agent?.capabilities.hooks === true) return;
  throw new AoError(
    "goal_unsupported",
    `agent ${metadata.agent} does not tell when it rests: it takes no goal`,
    {
      hint: `ao send ${record.id} <text>`,
    },
  );
}

function supersedePending(deps: SessionDeps, stored: GoalState | undefined): void {
  const pending = stored?.pendingOperationId ?? null;
  const operation = pending === null ? undefined : deps.operations.get(pending);
  if (operation === undefined) return;
  const nowMs = deps.clock.nowMs();
  saveForced(deps, operation, supersedeOperation(operation, goalResult("superseded"), nowMs));
}
