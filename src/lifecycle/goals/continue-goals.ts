import { assertNever } from "../../domain/assert-never.ts";
import { type AoErrorCode, codeOf, errorMessage, isAoError } from "../../domain/errors.ts";
import type { GoalCheck, GoalDesired, GoalObserved, GoalState } from "../../domain/goal.ts";
import { type Continuation, decideContinuation } from "../../domain/goal-continuation.ts";
import { afterObserved } from "../../domain/goal-transitions.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import { isDelivering } from "../../domain/message.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { insideTransaction } from "../operations/inside-transaction.ts";
import { goalMessageId, saveGoal } from "./goal-rows.ts";
import { queueTurn } from "./queue-goals.ts";
import { type CheckOptions, runCheck } from "./run-check.ts";

/** What the commands of `until` are run with. */
export type ContinueOptions = CheckOptions;

/** What became of a goal that was looked at. */
export interface GoalAdvance {
  readonly sessionId: SessionId;
  /** `continued`: its next turn is queued. The others are ends. */
  readonly kind: "continued" | "completed" | "limited" | "blocked";
  /** Turns that were begun for it so far. */
  readonly turnsUsed: number;
}

export interface GoalsContinued {
  readonly goals: readonly GoalAdvance[];
  readonly errors: readonly {
    readonly subject: string;
    readonly code: AoErrorCode;
    readonly message: string;
  }[];
}

/** Commands of the user's that run at once. */
const AT_ONCE = 4;

/**
 * Takes the goals up whose agents rest: asks whether each is reached, and queues its next turn when not. Goes by the
 * rows, so sessions are observed before; what is queued is delivered after. What fails of one is told and stops no
 * other. A second process at once changes nothing.
 */
export async function continueGoals(
  deps: SessionDeps,
  options: ContinueOptions = {},
): Promise<GoalsContinued> {
  const { goals: active, unreadable } = deps.goals.active();
  const continued: Continued = {
    goals: [],
    errors: unreadable.map(({ sessionId, flaw }) => ({
      ...{ subject: `goal of ${sessionId}`, code: "store_corrupt" },
      message: `its row cannot be read (${flaw})`,
    })),
  };
  const todo = active.map(({ sessionId }) => sessionId);
  const work = async () => {
    for (let id = todo.shift(); id !== undefined; id = todo.shift()) {
      await continueOrTell(deps, id, { options, continued });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  continued.goals.sort((one, other) => (one.sessionId < other.sessionId ? -1 : 1));
  return continued;
}

interface Continued {
  readonly goals: GoalAdvance[];
  readonly errors: GoalsContinued["errors"][number][];
}

async function continueOrTell(
  deps: SessionDeps,
  id: SessionId,
  { options, continued }: { readonly options: ContinueOptions; readonly continued: Continued },
): Promise<void> {
  try {
    const advance = await continueOne(deps, id, options);
    if (advance !== null) continued.goals.push(advance);
  } catch (error) {
    const code = codeOf(error);
    continued.errors.push({ subject: `goal of ${id}`, code, message: errorMessage(error) });
  }
}

async function continueOne(
  deps: SessionDeps,
  sessionId: SessionId,
  options: ContinueOptions,
): Promise<GoalAdvance | null> {
  if (due(deps, sessionId) === null) return null;
  try {
    const work = () => advance(deps, sessionId, options);
    return await deps.locks.withLock(`goal of ${sessionId}`, work, { waitMs: 0 });
  } catch (error) {
    // Another process is at it.
    if (isAoError(error, "operation_in_progress")) return null;
    throw error;
  }
}

interface Due {
  readonly record: SessionRecord;
  readonly state: GoalState;
  readonly desired: GoalDesired;
  readonly next: Exclude<Continuation, { readonly kind: "none" }>;
}

/** What is to be done for a goal, as the rows stand; `null` for nothing. */
function due(deps: SessionDeps, sessionId: SessionId): Due | null {
  const record = deps.store.get(sessionId);
  const state = deps.goals.state(sessionId);
  const desired = state?.desired ?? null;
  if (record === undefined || state === undefined || desired === null) return null;
  const isNative = deps.agents.get(record.metadata.agent)?.goal !== undefined;
  if (isNative || isTerminal(record.lifecycle)) return null;
  const { messages } = deps;
  const hasWaiting = messages.queued(sessionId).length > 0 || messages.sent(sessionId).some(isDelivering);
  const next = decideContinuation(state, {
    ...{ activity: record.lifecycle.activity.state, launchId: record.metadata.launchId, hasWaiting },
    newest: deps.turns.newest(sessionId),
    last: messages.get(goalMessageId(deps, state.generation, state.turnsUsed))?.state,
  });
  return next.kind === "none" ? null : { record, state, desired, next };
}

async function advance(
  deps: SessionDeps,
  sessionId: SessionId,
  options: ContinueOptions,
): Promise<GoalAdvance | null> {
  const found = due(deps, sessionId);
  if (found === null) return null;
  const { record, desired, next } = found;
  if (next.kind === "block") return settle(deps, found, { kind: "blocked", detail: next.why, check: null });
  const { until } = desired;
  const check = until === null ? null : await runCheck(deps, record, { ...options, until });
  if (check?.exitCode === 0) return settle(deps, found, { kind: "completed", detail: null, check });
  switch (next.kind) {
    case "last_check": {
      const detail = `all ${desired.maxTurns} turns were used`;
      return settle(deps, found, { kind: "limited", detail, check });
    }
    case "go_on":
      return goOn(deps, found, { number: next.number, check });
    default:
      return assertNever(next);
  }
}

interface Settling {
  readonly kind: "completed" | "limited" | "blocked";
  readonly detail: string | null;
  readonly check: GoalCheck | null;
}

/** `null` when the goal moved on meanwhile: then it is not this one's end. */
async function settle(
  deps: SessionDeps,
  { state, desired }: Due,
  { kind, detail, check }: Settling,
): Promise<GoalAdvance | null> {
  const observed: GoalObserved = { objective: desired.objective, status: kind, detail };
  return crossing(deps, "goal.settle", () =>
    deps.store.transaction(() => {
      if (hasMoved(deps, state)) return null;
      const seen = afterObserved(withCheck(state, check), observed, timeOf(deps, state));
      saveGoal(deps, seen);
      return { sessionId: state.sessionId, kind, turnsUsed: state.turnsUsed };
    }),
  );
}

interface GoingOn {
  readonly number: number;
  readonly check: GoalCheck | null;
}

async function goOn(deps: SessionDeps, { state, desired }: Due, next: GoingOn): Promise<GoalAdvance | null> {
  const { sessionId, generation, turnsUsed } = state;
  return crossing(deps, "goal.continue", () =>
    deps.store.transaction(() => {
      if (hasMoved(deps, state)) return null;
      if (next.check !== null) {
        const nowMs = timeOf(deps, state);
        const checked = withCheck(state, next.check);
        saveGoal(deps, { ...checked, version: state.version + 1, updatedAtMs: nowMs });
      }
      const inside = { ...deps, store: insideTransaction(deps.store) };
      queueTurn(inside, { sessionId, generation, desired }, next.number);
      return { sessionId, kind: "continued", turnsUsed };
    }),
  );
}

function withCheck(state: GoalState, check: GoalCheck | null): GoalState {
  return check === null ? state : { ...state, check };
}

function hasMoved({ goals }: Pick<SessionDeps, "goals">, { sessionId, version }: GoalState): boolean {
  return goals.state(sessionId)?.version !== version;
}

/** Never before what was seen of it, whatever the clock does. */
function timeOf({ clock }: Pick<SessionDeps, "clock">, { observedAtMs, updatedAtMs }: GoalState): number {
  return Math.max(clock.nowMs(), observedAtMs ?? 0, updatedAtMs);
}
