import { assertNever } from "../../domain/assert-never.ts";
import { isAoError } from "../../domain/errors.ts";
import type { GoalState } from "../../domain/goal.ts";
import { whyGiveUp } from "../../domain/goal-budget.ts";
import {
  afterApplied,
  afterDispatch,
  afterFailedControl,
  afterLocalStop,
} from "../../domain/goal-transitions.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { GoalAnswer, GoalOrder, GoalRuntime } from "../../ports/goal-runtime.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requireSession, sessionNotFound } from "../session-refs.ts";
import { attachRepair } from "./attach-repair.ts";
import {
  actionOf,
  type GoalPhase,
  type GoalProgress,
  generationOf,
  goalProgressJson,
  goalResult,
  parseGoalProgress,
} from "./goal-progress.ts";
import { changeGoal } from "./goal-rows.ts";
import { queueGoals } from "./queue-goals.ts";
import { reachOf } from "./reach.ts";

/** `recovering`: its process is gone, so what is offline now comes back only by a person. */
export interface StepMode {
  readonly recovering: boolean;
}

/** What one try came to, of an operation that stays. */
export type StepEnd =
  | { readonly kind: "done" }
  /** The agent was not told: it is told when it can be. */
  | { readonly kind: "waits"; readonly why: string }
  | { readonly kind: "disconnected"; readonly why: string };

const DONE: StepEnd = { kind: "done" };

/** How the agent of a session is given goals. */
export function goalRuntimeOf(deps: SessionDeps, id: SessionId): GoalRuntime {
  const { metadata } = requireSession(deps, id);
  return deps.agents.get(metadata.agent)?.goal ?? queueGoals(deps);
}

/** What the work on one order goes by. */
interface Step {
  readonly held: LeasedOperation;
  readonly sessionId: SessionId;
  readonly progress: GoalProgress;
  readonly mode: StepMode;
}

/**
 * One try to carry an order out, by its holder: at its end the operation is over or was given back. The agent is
 * told only while its session lives; none is started.
 */
export async function stepControl(
  deps: SessionDeps,
  held: LeasedOperation,
  mode: StepMode,
): Promise<StepEnd> {
  const { sessionId } = held;
  if (sessionId === null) throw sessionNotFound("");
  const step = { held, sessionId, progress: parseGoalProgress(held), mode };
  const state = deps.goals.state(sessionId);
  if (state === undefined || !isNewest(state, step)) return finish(deps, step, { phase: "superseded" });
  const now = { attempt: held.attempt, atMs: deps.clock.nowMs() };
  const why = whyGiveUp(step.progress, now);
  if (why !== null) return giveUp(deps, step, { code: "delivery_unconfirmed", message: why });
  const reach = await reachOf(deps, sessionId);
  if (reach.kind === "live") return tell(deps, step, { state, target: reach.live.target });
  const mayEnd = mode.recovering && reach.kind === "gone" && isLocal(held);
  return mayEnd ? stopLocally(deps, held) : release(deps, step, { kind: "disconnected", why: reach.why });
}

/** Of a session that is offline nothing goes on: these orders are carried out by that alone. */
function isLocal(held: LeasedOperation): boolean {
  const action = actionOf(held);
  return action === "clear" || action === "pause";
}

function isNewest({ pendingOperationId, generation }: GoalState, { held, progress }: Step): boolean {
  return pendingOperationId === held.id && generation.revision === progress.revision;
}

interface Telling {
  readonly state: GoalState;
  readonly target: RuntimeTarget;
}

async function tell(deps: SessionDeps, step: Step, { state, target }: Telling): Promise<StepEnd> {
  const runtime = goalRuntimeOf(deps, step.sessionId);
  const dispatch = dispatcher(deps, step);
  const order: GoalOrder = {
    ...{ sessionId: step.sessionId, target, action: actionOf(step.held) },
    ...{ generation: generationOf(step.held), desired: state.desired },
    onDispatch: dispatch.onDispatch,
  };
  const mayHave = step.progress.dispatched !== null;
  const asked = mayHave && runtime.query ? await runtime.query(order) : null;
  if (asked?.kind === "applied") return take(deps, { ...step, progress: dispatch.now() }, asked);
  const obstacle = obstacleTo(runtime, step);
  if (obstacle === "wait")
    return release(deps, step, { kind: "waits", why: "the agent has not followed it yet" });
  if (obstacle === "unsafe") {
    const message = "the agent may have been told, and telling it again is not safe";
    return giveUp(deps, step, { code: "delivery_unconfirmed", message });
  }
  const answer = await crossing(deps, "goal.tell", () => runtime.control(order));
  return take(deps, { ...step, progress: dispatch.now() }, answer);
}

/**
 * An order that was taken is never given again while its agent runs; one that may have been only where that is safe.
 */
function obstacleTo(runtime: GoalRuntime, { held, progress, mode }: Step): "wait" | "unsafe" | null {
  if (runtime.replaysAfterRestart) return null;
  if (progress.accepted !== null) return "wait";
  if (progress.dispatched === null || actionOf(held) === "clear") return null;
  return mode.recovering ? "unsafe" : "wait";
}

/** Puts on record, once, that the agent may be reached from here on. */
function dispatcher(deps: SessionDeps, { held, sessionId, progress }: Step) {
  let known = progress;
  const onDispatch = async () => {
    if (known.dispatched !== null) return;
    const dispatched = { atMs: deps.clock.nowMs(), attempt: held.attempt };
    const told = { ...known, dispatched };
    await crossing(deps, "goal.dispatch", () =>
      operationLedger(deps).checkpoint(held, goalProgressJson(told), () =>
        changeGoal(deps, sessionId, afterDispatch),
      ),
    );
    known = told;
  };
  return { onDispatch, now: () => known };
}

async function take(deps: SessionDeps, step: Step, answer: GoalAnswer): Promise<StepEnd> {
  switch (answer.kind) {
    case "applied":
      return finish(deps, step, {
        phase: "applied",
        change: (state, nowMs) => afterApplied(state, answer.observed, nowMs),
      });
    case "accepted": {
      const accepted = step.progress.accepted ?? { atMs: deps.clock.nowMs(), attempt: step.held.attempt };
      const taken = { ...step, progress: { ...step.progress, accepted } };
      return release(deps, taken, { kind: "waits", why: "the agent took it and has not followed it yet" });
    }
    case "waiting":
      return release(deps, step, { kind: "waits", why: answer.why });
    case "disconnected":
      return release(deps, step, { kind: "disconnected", why: answer.detail });
    case "error":
      return giveUp(deps, step, answer);
    default:
      return assertNever(answer);
  }
}

interface Finish {
  readonly phase: GoalPhase;
  readonly change?: (state: GoalState, nowMs: number) => GoalState;
}

/** A newer order may have come meanwhile: then this one is over already, and what the agent was told is made good. */
async function finish(
  deps: SessionDeps,
  { held, sessionId }: Step,
  { phase, change }: Finish,
): Promise<StepEnd> {
  try {
    await crossing(deps, "goal.complete", () =>
      operationLedger(deps).complete(held, goalResult(phase), () => {
        if (change !== undefined) changeGoal(deps, sessionId, change);
      }),
    );
  } catch (error) {
    afterLost(deps, held, error);
  }
  return DONE;
}

async function giveUp(
  deps: SessionDeps,
  { held, sessionId }: Step,
  error: { readonly code: string; readonly message: string },
): Promise<StepEnd> {
  const { code, message } = error;
  await crossing(deps, "goal.fail", () =>
    operationLedger(deps).fail(held, { error: { code, message }, result: null }, () =>
      changeGoal(deps, sessionId, (state, nowMs) => afterFailedControl(state, message, nowMs)),
    ),
  );
  return DONE;
}

async function release(
  deps: SessionDeps,
  { held, progress }: Step,
  end: Exclude<StepEnd, { readonly kind: "done" }>,
): Promise<StepEnd> {
  try {
    await crossing(deps, "goal.release", () =>
      operationLedger(deps).release(held, { lastError: end.why, progress: goalProgressJson(progress) }),
    );
  } catch (error) {
    afterLost(deps, held, error);
  }
  return end;
}

/** The claim was lost to a newer order, or to a process that carries it on. */
function afterLost(deps: SessionDeps, held: LeasedOperation, error: unknown): void {
  if (!isAoError(error, "operation_in_progress")) throw error;
  const { sessionId } = held;
  if (sessionId === null || goalRuntimeOf(deps, sessionId).keepsOrder) return;
  attachRepair(deps, sessionId, held.id);
}

/** Ends an order without a word to the agent, which claims nothing of what that follows. */
export async function stopLocally(deps: SessionDeps, held: LeasedOperation): Promise<StepEnd> {
  const { sessionId } = held;
  await crossing(deps, "goal.stop", () =>
    operationLedger(deps).complete(held, goalResult("unknown"), () => {
      if (sessionId === null) return;
      changeGoal(deps, sessionId, (state, nowMs) =>
        state.pendingOperationId === held.id ? afterLocalStop(state, nowMs) : state,
      );
    }),
  );
  return DONE;
}
