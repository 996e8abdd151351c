import type { GoalFence, GoalState } from "../../src/domain/goal.ts";
import { type OperationId, operationIdOfDigest } from "../../src/domain/operation.ts";
import { projectId, sessionId, T0_MS } from "./builders.ts";

/** The id of the n-th operation of a test. */
export function goalOperationId(number = 1): OperationId {
  return operationIdOfDigest(number.toString(16).padStart(32, "0"));
}

/** The goal of `app-1`: "make it work", active and followed, at revision 1 by operation 1, no turn used. */
export function aGoal(overrides: Partial<GoalState> = {}): GoalState {
  return {
    projectId: projectId("app"),
    sessionId: sessionId("app-1"),
    desired: { objective: "make it work", status: "active", startedAtMs: T0_MS, maxTurns: 3, until: null },
    observed: { objective: "make it work", status: "active", detail: null },
    observedAtMs: T0_MS,
    generation: { operationId: goalOperationId(), revision: 1, repairEpoch: 0 },
    syncStatus: "synced",
    pendingOperationId: null,
    turnsUsed: 0,
    check: null,
    lastError: null,
    incidents: [],
    createdAtMs: T0_MS,
    updatedAtMs: T0_MS,
    version: 1,
    ...overrides,
  };
}

/** The fence of operation 1 of `app-1`, by operation 9. */
export function aFence(overrides: Partial<GoalFence> = {}): GoalFence {
  return {
    projectId: projectId("app"),
    sessionId: sessionId("app-1"),
    target: { operationId: goalOperationId(), revision: 1, repairEpoch: 0 },
    operationId: goalOperationId(9),
    reason: "binding_revoked",
    installedLaunchId: null,
    createdAtMs: T0_MS,
    ...overrides,
  };
}
