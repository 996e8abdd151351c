import type { GoalAction, GoalDesired } from "../../domain/goal.ts";
import { decideRepair, type RepairDecision } from "../../domain/goal-repair.ts";
import type { GoalControl } from "../../domain/goal-transitions.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { OperationId } from "../../domain/operation.ts";
import { wakeOperation } from "../../domain/operation-transitions.ts";
import type { SessionDeps } from "../deps.ts";
import { insideTransaction } from "../operations/inside-transaction.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { requireSession } from "../session-refs.ts";
import { goalControlJson, goalProgressJson } from "./goal-progress.ts";
import { saveForced, saveGoal, withdrawQueued } from "./goal-rows.ts";

/**
 * Makes good that the result of an earlier order came late: the newest one is given once more, in the next epoch.
 * The same source counts once; after too many the goal is given up until a new order comes.
 */
export function attachRepair(deps: SessionDeps, sessionId: SessionId, source: OperationId): void {
  deps.store.transaction(() => {
    const inside = { ...deps, store: insideTransaction(deps.store) };
    const state = deps.goals.state(sessionId);
    // A late word of the order that is the newest one undoes nothing.
    if (state === undefined || state.generation.operationId === source) return;
    const { revision } = state.generation;
    const repairId = repairIdOf(inside, sessionId, { source, revision });
    const decision = decideRepair(state, { source, repairId, nowMs: deps.clock.nowMs() });
    if (decision.kind === "known") return;
    saveGoal(inside, decision.state);
    withdrawQueued(inside, sessionId, "its goal is given anew");
    carryOut(inside, sessionId, { source, decision });
  });
}

function carryOut(
  deps: SessionDeps,
  sessionId: SessionId,
  { source, decision }: { readonly source: OperationId; readonly decision: RepairDecision },
): void {
  if (decision.kind !== "wake" && decision.kind !== "repeat") return;
  const { desired, generation } = decision.state;
  const { revision, repairEpoch } = generation;
  const progress = goalProgressJson({ revision, repairEpoch, dispatched: null, accepted: null });
  if (decision.kind === "wake") {
    const operation = requireOperation(deps, decision.operationId);
    saveForced(deps, operation, wakeOperation(operation, progress, deps.clock.nowMs()));
    return;
  }
  const control = controlFor(decision.action, desired);
  const identity = identityOf(deps, sessionId, { source, revision });
  operationLedger(deps).prepare({ ...identity, sessionId, input: goalControlJson(control), progress });
}

/** The order that gives what is wanted. */
function controlFor(action: GoalAction, desired: GoalDesired | null): GoalControl {
  if (action !== "set" || desired === null) return { action, objective: null, maxTurns: null, until: null };
  const { objective, maxTurns, until } = desired;
  return { action, objective, maxTurns, until };
}

function identityOf(
  deps: Pick<SessionDeps, "store">,
  sessionId: SessionId,
  { source, revision }: { readonly source: OperationId; readonly revision: number },
) {
  const { projectId } = requireSession(deps, sessionId);
  const subject = `goal-repair:${source}:${revision}`;
  return { kind: "goal_control", projectId, identifyingSessionId: sessionId, subject } as const;
}

/** As `prepare` names it. */
function repairIdOf(
  deps: SessionDeps,
  sessionId: SessionId,
  repair: { readonly source: OperationId; readonly revision: number },
): OperationId {
  const { projectId, kind, subject } = identityOf(deps, sessionId, repair);
  return deps.ids.operationId([projectId, sessionId, kind, subject]);
}
