import { AoError } from "../../domain/errors.ts";
import { type GoalState, goalStatus } from "../../domain/goal.ts";
import { type MessageId, parseMessageId, type SessionId } from "../../domain/ids.ts";
import type { Message } from "../../domain/message.ts";
import { cancelMessage } from "../../domain/message-transitions.ts";
import type { Operation } from "../../domain/operation.ts";
import type { GoalProvenance } from "../../domain/turn.ts";
import type { SessionDeps } from "../deps.ts";
import { logOperation } from "../operations/log-operation.ts";
import { saveOperation } from "../operations/write-operation.ts";
import { messageChange } from "../turns/turn-change.ts";

/**
 * Saves the next version of a goal that was read in the same transaction, and tells the change log.
 *
 * @throws AoError store_busy when it moved since.
 */
export function saveGoal(deps: Pick<SessionDeps, "goals" | "changes" | "clock">, next: GoalState): void {
  const isSaved = next.version === 1 ? deps.goals.insert(next) : deps.goals.save(next, next.version - 1);
  if (!isSaved) {
    throw new AoError("store_busy", `the goal of ${next.sessionId} was written by another process`, {
      hint: "try again",
    });
  }
  const { projectId, sessionId, generation, syncStatus, pendingOperationId, turnsUsed } = next;
  deps.changes.append({
    ...{ atMs: deps.clock.nowMs(), projectId, sessionId, type: "goal.changed" },
    data: {
      ...{ status: goalStatus(next), syncStatus, revision: generation.revision, turnsUsed },
      ...{ operationId: generation.operationId, repairEpoch: generation.repairEpoch, pendingOperationId },
    },
  });
}

/** Changes the goal of a session, if it has one and `change` makes another of it. Inside a transaction. */
export function changeGoal(
  deps: Pick<SessionDeps, "goals" | "changes" | "clock">,
  sessionId: SessionId,
  change: (state: GoalState, nowMs: number) => GoalState,
): void {
  const state = deps.goals.state(sessionId);
  if (state === undefined) return;
  const next = change(state, deps.clock.nowMs());
  if (next !== state) saveGoal(deps, next);
}

/** @throws AoError goal_absent */
export function requireGoal({ goals }: Pick<SessionDeps, "goals">, sessionId: SessionId): GoalState {
  const state = goals.state(sessionId);
  if (state !== undefined) return state;
  throw goalAbsent(sessionId);
}

/** There is nothing that could be paused, resumed or fenced. */
export function goalAbsent(sessionId: SessionId): AoError {
  return new AoError("goal_absent", `session ${sessionId} has no goal`, {
    hint: `ao goal set ${sessionId} <text>`,
  });
}

/** The id of the message that begins a turn of a goal: equal for the same turn, so that it is queued once. */
export function goalMessageId(
  { ids }: Pick<SessionDeps, "ids">,
  { operationId, revision, repairEpoch }: GoalProvenance,
  number: number,
): MessageId {
  const parts = ["goal message", operationId, String(revision), String(repairEpoch), String(number)];
  const id = parseMessageId(ids.operationId(parts));
  if (id === undefined) throw new AoError("internal", "the id of a goal makes no message id");
  return id;
}

/** Takes back what is queued for the goal of a session: a newer order came. Inside a transaction. */
export function withdrawQueued(
  deps: Pick<SessionDeps, "messages" | "changes" | "clock">,
  sessionId: SessionId,
  why: string,
): void {
  for (const message of deps.messages.queued(sessionId)) {
    if (message.goal !== null) withdrawMessage(deps, message, why);
  }
}

/** Takes back one that is queued. Inside a transaction. */
export function withdrawMessage(
  deps: Pick<SessionDeps, "messages" | "changes" | "clock">,
  message: Message,
  why: string,
): void {
  const nowMs = deps.clock.nowMs();
  const cancelled = cancelMessage(message, why, nowMs);
  if (cancelled === message) return;
  if (!deps.messages.save(cancelled, message.version)) {
    throw new AoError("store_busy", `message ${message.id} was written by another process`);
  }
  deps.changes.append(messageChange(cancelled, nowMs));
}

/** Saves what became of an operation without its holder, and tells the change log. Inside a transaction. */
export function saveForced(deps: SessionDeps, before: Operation, after: Operation): void {
  if (after === before) return;
  saveOperation(deps, after);
  logOperation(deps, after);
}
