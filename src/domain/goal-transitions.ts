import {
  type GoalAction,
  type GoalDesired,
  type GoalObserved,
  type GoalState,
  type GoalSyncStatus,
  isGivenUp,
} from "./goal.ts";
import type { ProjectId, SessionId } from "./ids.ts";
import type { OperationId } from "./operation.ts";

/** An order as it was given. */
export interface GoalControl {
  readonly action: GoalAction;
  /** Of a `set`; `null` of any other. */
  readonly objective: string | null;
  /** Of a `set`, or a `resume` that allows another number; else `null`. */
  readonly maxTurns: number | null;
  readonly until: string | null;
}

export interface ControlContext {
  readonly projectId: ProjectId;
  readonly sessionId: SessionId;
  readonly operationId: OperationId;
  /** The order is void when the revision is another one; `null` for any. */
  readonly expectedRevision: number | null;
  readonly nowMs: number;
}

export type ControlDecision =
  /** The state with the order in it, its version one more; a new row has version 1. */
  | { readonly kind: "ordered"; readonly state: GoalState }
  /** There is no goal that could be paused or resumed. */
  | { readonly kind: "absent" }
  /** A newer order came first; nothing changes. */
  | { readonly kind: "superseded"; readonly state: GoalState | undefined };

/** Turns that a goal may take when nobody says how many. */
export const DEFAULT_MAX_TURNS = 20;

/** Decides what an order makes of the goal of a session. What the agent follows is not touched. Pure and total. */
export function decideControl(
  stored: GoalState | undefined,
  control: GoalControl,
  context: ControlContext,
): ControlDecision {
  const revision = stored?.generation.revision ?? 0;
  if (context.expectedRevision !== null && context.expectedRevision !== revision) {
    return { kind: "superseded", state: stored };
  }
  const desired = desiredAfter(stored, control, context.nowMs);
  if (desired === undefined) return { kind: "absent" };
  const { operationId, projectId, sessionId, nowMs } = context;
  const begun = stored ?? newState({ projectId, sessionId, operationId, nowMs });
  const state = withVersion(
    {
      ...begun,
      desired,
      generation: { operationId, revision: revision + 1, repairEpoch: 0 },
      syncStatus: "pending",
      pendingOperationId: operationId,
      incidents: [],
      lastError: null,
      ...(control.action === "set" && { turnsUsed: 0, check: null }),
    },
    nowMs,
  );
  return { kind: "ordered", state };
}

function desiredAfter(
  stored: GoalState | undefined,
  { action, objective, maxTurns, until }: GoalControl,
  nowMs: number,
): GoalDesired | null | undefined {
  const now = stored?.desired ?? null;
  switch (action) {
    case "set":
      if (objective === null) return undefined;
      return {
        ...{ objective, status: "active", startedAtMs: nowMs, until },
        maxTurns: maxTurns ?? DEFAULT_MAX_TURNS,
      };
    case "pause":
      return now === null ? undefined : { ...now, status: "paused" };
    case "resume":
      return now === null ? undefined : { ...now, status: "active", maxTurns: maxTurns ?? now.maxTurns };
    case "clear":
      return null;
  }
}

function newState({
  projectId,
  sessionId,
  operationId,
  nowMs,
}: Pick<ControlContext, "projectId" | "sessionId" | "operationId" | "nowMs">): GoalState {
  return {
    ...{ projectId, sessionId, desired: null, observed: null, observedAtMs: null },
    generation: { operationId, revision: 0, repairEpoch: 0 },
    ...{ syncStatus: "pending", pendingOperationId: null, turnsUsed: 0, check: null, lastError: null },
    ...{ incidents: [], createdAtMs: nowMs, updatedAtMs: nowMs, version: 0 },
  };
}

/** Whether the agent follows what was asked for. That it came to an end of its own is no divergence. */
export function converges(desired: GoalDesired | null, observed: GoalObserved | null): boolean {
  if (desired === null || observed === null) return desired === observed;
  if (desired.objective !== observed.objective) return false;
  return desired.status === "paused" ? observed.status === "paused" : observed.status !== "paused";
}

/** The newest order may have reached the agent from here on. */
export function afterDispatch(state: GoalState, nowMs: number): GoalState {
  return state.syncStatus === "applying" ? state : withVersion({ ...state, syncStatus: "applying" }, nowMs);
}

/** The agent follows the newest order, or said what else it does. */
export function afterApplied(state: GoalState, observed: GoalObserved | null, nowMs: number): GoalState {
  const settled = { ...state, observed, observedAtMs: nowMs, pendingOperationId: null };
  return withVersion({ ...settled, syncStatus: syncOf(settled), lastError: null }, nowMs);
}

/** The newest order was given up. */
export function afterFailedControl(state: GoalState, why: string, nowMs: number): GoalState {
  const syncStatus = isGivenUp(state) ? "unknown" : "failed";
  return withVersion({ ...state, pendingOperationId: null, syncStatus, lastError: why }, nowMs);
}

/** The newest order is over without a word to the agent: what that follows is as unknown as before. */
export function afterLocalStop(state: GoalState, nowMs: number): GoalState {
  return withVersion({ ...state, pendingOperationId: null, syncStatus: "unknown" }, nowMs);
}

/**
 * What the agent was seen to make of the goal. Moves nothing else; the same state for an older observation. While an
 * order is under way it stays `applying`.
 */
export function afterObserved(state: GoalState, observed: GoalObserved | null, atMs: number): GoalState {
  if (state.observedAtMs !== null && atMs < state.observedAtMs) return state;
  const seen = { ...state, observed, observedAtMs: atMs };
  const syncStatus = state.pendingOperationId === null ? syncOf(seen) : state.syncStatus;
  return withVersion({ ...seen, syncStatus }, atMs);
}

function syncOf(state: GoalState): GoalSyncStatus {
  if (isGivenUp(state)) return "unknown";
  return converges(state.desired, state.observed) ? "synced" : "diverged";
}

/** A turn of this number was begun for the goal; the same state when that is known. */
export function afterTurnBegun(state: GoalState, number: number, nowMs: number): GoalState {
  return number <= state.turnsUsed ? state : withVersion({ ...state, turnsUsed: number }, nowMs);
}

/** The next version. Its time never goes back, whatever the clock does. */
export function withVersion(state: GoalState, nowMs: number): GoalState {
  return { ...state, version: state.version + 1, updatedAtMs: Math.max(state.updatedAtMs, nowMs) };
}
