import { AoError } from "../../domain/errors.ts";
import { type GoalFence, isSameGeneration } from "../../domain/goal.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isFinished, type LeasedOperation, parseOperationId } from "../../domain/operation.ts";
import type { LiveTurn } from "../../domain/turn.ts";
import type { GoalFenceAnswer } from "../../ports/goal-runtime.ts";
import { cancelTurn } from "../cancel/cancel-turn.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { requireSession, runtimeTarget, sessionNotFound } from "../session-refs.ts";
import { clearIdOf, targetIdOf } from "./goal-progress.ts";
import { reachOf } from "./reach.ts";
import { goalRuntimeOf, type StepMode, stepControl, stopLocally } from "./step-control.ts";

/** What the work on one fence goes by. */
interface FenceStep {
  readonly held: LeasedOperation;
  readonly sessionId: SessionId;
  readonly fence: GoalFence;
  readonly mode: StepMode;
}

/** `settled`: the generation is revoked, its turn over and its goal cleared. `deferred`: it is tried again. */
export type FenceEnd = "settled" | "deferred";

/**
 * One try to carry a fence out, by its holder: the agent is told to refuse the generation, the turn that works for
 * exactly that one is stopped and its end waited for, the goal is cleared. Nothing of it starts or resumes a
 * session: while one is offline it waits, and in recovery it ends locally, and claims nothing of the agent.
 *
 * @throws AoError delivery_failed when the agent refused the fence; it is tried again.
 */
export async function stepFence(deps: SessionDeps, held: LeasedOperation, mode: StepMode): Promise<FenceEnd> {
  const { sessionId } = held;
  if (sessionId === null) throw sessionNotFound("");
  const step = { held, sessionId, fence: fenceOf(deps, held, sessionId), mode };
  // In recovery nobody is told of what is known to be gone.
  const reach = mode.recovering ? await reachOf(deps, sessionId) : null;
  if (reach?.kind === "gone") return completeLocally(deps, step);
  const installed = await install(deps, step);
  if (installed.kind === "disconnected") return afterDrop(deps, step, installed.detail);
  if (installed.kind === "error") return refused(deps, step, installed);
  return stopTurn(deps, step);
}

/** @throws AoError store_corrupt when the fence of an operation is not there. */
function fenceOf(deps: SessionDeps, held: LeasedOperation, sessionId: SessionId): GoalFence {
  const fence = deps.goals.fences(sessionId).find(({ operationId }) => operationId === held.id);
  if (fence !== undefined) return fence;
  throw new AoError("store_corrupt", `fence ${held.id} of ${sessionId} has no row for ${targetIdOf(held)}`, {
    hint: "ao doctor",
  });
}

interface Offline {
  readonly kind: "gone" | "unseen";
  readonly why: string;
}

async function offline(deps: SessionDeps, step: FenceStep, { kind, why }: Offline): Promise<FenceEnd> {
  return step.mode.recovering && kind === "gone" ? completeLocally(deps, step) : defer(deps, step, why);
}

/** The connection was lost on the way: only a session that is seen to be gone ends it, and only in recovery. */
async function afterDrop(deps: SessionDeps, step: FenceStep, why: string): Promise<FenceEnd> {
  if (!step.mode.recovering) return defer(deps, step, why);
  const reach = await reachOf(deps, step.sessionId);
  return reach.kind === "gone" ? completeLocally(deps, step) : defer(deps, step, why);
}

async function install(deps: SessionDeps, { fence, sessionId }: FenceStep): Promise<GoalFenceAnswer> {
  const record = requireSession(deps, sessionId);
  const answer = await crossing(deps, "fence.install", () =>
    goalRuntimeOf(deps, sessionId).fence({
      ...{ sessionId, generation: fence.target, requireLive: true },
      target: runtimeTarget(record) ?? null,
    }),
  );
  if (answer.kind === "installed") deps.goals.markInstalled(fence, record.metadata.launchId);
  return answer;
}

async function refused(
  deps: SessionDeps,
  step: FenceStep,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<never> {
  await defer(deps, step, message);
  throw new AoError("delivery_failed", `the agent of ${step.sessionId} did not take the fence: ${message}`, {
    hint: "it is on record, and ao reconcile tries again",
    details: { operationId: step.held.id, code, intentAccepted: true, settled: false },
  });
}

/** Whether the turn that goes on works for exactly the generation that is revoked. */
function fencedTurn(deps: SessionDeps, { fence, sessionId }: FenceStep): LiveTurn | undefined {
  const live = deps.turns.live(sessionId);
  return live?.goal && isSameGeneration(live.goal, fence.target) ? live : undefined;
}

async function stopTurn(deps: SessionDeps, step: FenceStep): Promise<FenceEnd> {
  const turn = fencedTurn(deps, step);
  if (turn === undefined) return clear(deps, step);
  const reach = await reachOf(deps, step.sessionId);
  if (reach.kind !== "live") return offline(deps, step, reach);
  const { turnId } = turn;
  await crossing(deps, "fence.cancel", () =>
    cancelTurn(deps, step.sessionId, { turnId, reason: `goal fenced: ${step.fence.reason}` }),
  );
  return fencedTurn(deps, step) === undefined
    ? clear(deps, step)
    : defer(deps, step, `it waits for the end of turn ${turnId}`);
}

/** The clear goes the way of every order, and the fence is settled when it is over. */
async function clear(deps: SessionDeps, step: FenceStep): Promise<FenceEnd> {
  const id = clearOf(step);
  if (id === undefined) return settle(deps, step);
  if (!isFinished(requireOperation(deps, id))) {
    const claimed = await operationLedger(deps).claim(id, { evenIfNotDue: true });
    if (claimed.kind === "claimed") await stepControl(deps, claimed.operation, step.mode);
  }
  const { state } = requireOperation(deps, id);
  if (state.kind === "completed") return settle(deps, step);
  if (state.kind === "failed") return refused(deps, step, state.error);
  return defer(deps, step, "its goal is not cleared yet");
}

function clearOf({ held }: FenceStep) {
  return parseOperationId(clearIdOf(held) ?? "");
}

/** Without a word to the agent, which is gone; the clear as well, whoever had it. */
async function completeLocally(deps: SessionDeps, step: FenceStep): Promise<FenceEnd> {
  const id = clearOf(step);
  if (id !== undefined && !isFinished(requireOperation(deps, id))) {
    const claimed = await operationLedger(deps).claim(id, { evenIfNotDue: true });
    if (claimed.kind === "held") return defer(deps, step, "another process clears its goal");
    if (claimed.kind === "claimed") await stopLocally(deps, claimed.operation);
  }
  return settle(deps, step);
}

async function settle(deps: SessionDeps, { held, fence }: FenceStep): Promise<FenceEnd> {
  const { operationId, revision, repairEpoch } = fence.target;
  await crossing(deps, "fence.complete", () =>
    operationLedger(deps).complete(held, { operationId, revision, repairEpoch }),
  );
  return "settled";
}

async function defer(deps: SessionDeps, { held }: FenceStep, lastError: string): Promise<FenceEnd> {
  await crossing(deps, "fence.release", () => operationLedger(deps).release(held, { lastError }));
  return "deferred";
}
