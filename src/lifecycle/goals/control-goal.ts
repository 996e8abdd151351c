import { AoError } from "../../domain/errors.ts";
import type { GoalState } from "../../domain/goal.ts";
import { parseObjective, parseUntil } from "../../domain/goal-text.ts";
import type { GoalControl } from "../../domain/goal-transitions.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isFinished, type OperationId } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import { requireSession } from "../session-refs.ts";
import { deliverTurn } from "./deliver-turn.ts";
import { generationOf } from "./goal-progress.ts";
import { goalMessageId, requireGoal } from "./goal-rows.ts";
import { prepareControl } from "./prepare-control.ts";
import { tryPending } from "./settle-pending.ts";

export interface GoalOptions {
  /** Repeated with the same id and the same order, the first one is meant. */
  readonly requestId?: string | null;
  /** The order is refused when the goal has another revision by now. */
  readonly expectedRevision?: number;
  /** How long to wait for an agent that cannot take the message yet, in milliseconds; not at all when absent. */
  readonly waitMs?: number;
}

/** What is known of an order: facts, none of which follows from another. */
export interface GoalResult {
  readonly operationId: OperationId;
  /** The goal as it stands now. */
  readonly state: GoalState;
  /** It is on record, and `ao` owns every further try. */
  readonly intentAccepted: true;
  /** The order is over, well or superseded. */
  readonly settled: boolean;
  /** Why it is not over, in one clause. */
  readonly waitsFor: string | null;
}

/**
 * Gives the goal of a session an order. It is on record before the agent is told, and supersedes one that is under
 * way; what is not carried out now is by whoever comes next.
 *
 * @throws AoError session_not_found, goal_absent, goal_unsupported, usage
 * @throws AoError not_running for a `set` or `resume` of a session that is over; nothing is on record.
 * @throws AoError request_conflict when another order was given under that id, or the revision has moved on.
 * @throws AoError goal_failed when the order was given up; a later one may go better.
 */
export async function controlGoal(
  deps: SessionDeps,
  id: SessionId,
  control: GoalControl,
  options: GoalOptions = {},
): Promise<GoalResult> {
  if (control.objective !== null) parseObjective(control.objective);
  if (control.until !== null) parseUntil(control.until);
  requireSession(deps, id);
  await recoverOperations(deps);
  const { requestId = null, expectedRevision } = options;
  const prepared = await crossing(deps, "goal.begin", () =>
    prepareControl(deps, id, {
      ...control,
      subject: requestId ?? deps.ids.uuid(),
      ...(expectedRevision !== undefined && { expectedRevision }),
    }),
  );
  if (prepared.kind === "superseded") throw movedOn(deps, id);
  const { operation } = prepared;
  // A repeat only tells: whoever has it, or comes next, carries it on.
  if (prepared.kind === "created") await carryOn(deps, id, operation.id, options.waitMs ?? 0);
  return resultOf(deps, id, operation.id);
}

/**
 * Carries on the order that a session's goal waits for, if there is one: as `controlGoal` does with a new one. The
 * goal as it stands then; `undefined` when there is none.
 */
export async function advanceGoal(
  deps: SessionDeps,
  id: SessionId,
  waitMs: number,
): Promise<GoalState | undefined> {
  const pending = deps.goals.state(id)?.pendingOperationId ?? null;
  if (pending !== null) await carryOn(deps, id, pending, waitMs);
  return deps.goals.state(id);
}

async function carryOn(
  deps: SessionDeps,
  sessionId: SessionId,
  id: OperationId,
  waitMs: number,
): Promise<void> {
  const tried = await tryPending(deps, id, { recovering: false });
  if (tried === undefined || isFinished(tried)) return;
  const messageId = goalMessageId(deps, generationOf(tried), 1);
  if (deps.messages.get(messageId) === undefined) return;
  await deliverTurn(deps, sessionId, { id: messageId, waitMs });
  await tryPending(deps, id, { recovering: false });
}

/** @throws AoError goal_failed */
function resultOf(deps: SessionDeps, sessionId: SessionId, id: OperationId): GoalResult {
  const { state, lastError } = requireOperation(deps, id);
  if (state.kind === "failed") {
    throw new AoError("goal_failed", `the goal of ${sessionId} was not carried out: ${state.error.message}`, {
      hint: `ao goal show ${sessionId}`,
      details: { operationId: id, sessionId, code: state.error.code, intentAccepted: true },
    });
  }
  const settled = state.kind === "completed";
  return {
    ...{ operationId: id, state: requireGoal(deps, sessionId), intentAccepted: true, settled },
    waitsFor: settled ? null : (lastError ?? "another process carries it out"),
  };
}

function movedOn(deps: SessionDeps, id: SessionId): AoError {
  const revision = deps.goals.state(id)?.generation.revision ?? 0;
  return new AoError("request_conflict", `the goal of ${id} is at revision ${revision} by now`, {
    hint: `ao goal show ${id}`,
    details: { sessionId: id, revision },
  });
}
