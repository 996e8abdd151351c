import { assertNever } from "../../domain/assert-never.ts";
import type { CancelAnswer } from "../../domain/cancel-answer.ts";
import { type CancelStep, decideCancel } from "../../domain/decide-cancel.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import { isSettledTurn, type SettledTurn, type TurnError, type TurnOutcome } from "../../domain/turn.ts";
import type { AgentCancel } from "../../ports/turn-cancel.ts";
import type { SessionDeps } from "../deps.ts";
import { hearSession } from "../messages/observe-target.ts";
import { crossing } from "../operations/crossing.ts";
import { fenceOf } from "../operations/fence-of.ts";
import { insideTransaction } from "../operations/inside-transaction.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requireSession } from "../session-refs.ts";
import { keepCheckpoint } from "../turns/keep-checkpoints.ts";
import { recordTurnTransition } from "../turns/record-turn-transition.ts";
import { askAgent, requireTurn, tidyUpLate } from "./ask-agent.ts";
import {
  type CancelEnd,
  cancelEndJson,
  cancelProgressJson,
  parseCancelProgress,
  turnOf,
} from "./cancel-progress.ts";

/**
 * One try to stop a turn, by the holder of its cancellation: at its end the operation is completed, has failed, or
 * was given back for another try. A turn that is settled already is left as it is, and its agent not told.
 *
 * @throws AoError operation_in_progress when another process carries it on.
 */
export async function carryOutCancel(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  const key = turnOf(held);
  // Its end may be told and not read yet; then there is nothing to stop.
  await hearSession(deps, key.sessionId);
  const turn = requireTurn(deps, key);
  const cancel = cancelOf(deps, held);
  const before = parseCancelProgress(held);
  // An earlier try told its agent, and nobody heard of the end who could tidy up then.
  const isLeft = before.deliveryUnconfirmed && cancel !== undefined;
  if (isSettledTurn(turn)) {
    if (isLeft) await tidyUpLate(deps, { key, cancel });
    return end(deps, held, { confirmed: false });
  }
  if (cancel === undefined) return fail(deps, held);
  const onTelling = () => markTold(deps, held);
  const answer = await askAgent(deps, { key, cancel, onTelling, fence: fenceOf(deps, held) });
  if (isSettledTurn(requireTurn(deps, key))) {
    if (isLeft && answer.kind !== "confirmed") await tidyUpLate(deps, { key, cancel });
    return end(deps, held, { confirmed: answer.kind === "confirmed" });
  }
  await take(deps, held, stepAfter(deps, held, { answer, marker: before.deliveryUnconfirmed }));
}

function cancelOf(deps: SessionDeps, held: LeasedOperation): AgentCancel | undefined {
  const { metadata } = requireSession(deps, turnOf(held).sessionId);
  return deps.agents.get(metadata.agent)?.cancel;
}

/** A process that dies from here on may have told the agent. */
async function markTold(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  const progress = { ...parseCancelProgress(held), deliveryUnconfirmed: true };
  await crossing(deps, "cancel.mark", () =>
    operationLedger(deps).checkpoint(held, cancelProgressJson(progress)),
  );
}

function stepAfter(
  { clock }: Pick<SessionDeps, "clock">,
  { attempt, createdAtMs }: LeasedOperation,
  { answer, marker }: { readonly answer: CancelAnswer; readonly marker: boolean },
): CancelStep {
  return decideCancel(answer, { marker, attempt, ageMs: clock.nowMs() - createdAtMs });
}

async function take(deps: SessionDeps, held: LeasedOperation, step: CancelStep): Promise<void> {
  const ledger = operationLedger(deps);
  switch (step.kind) {
    case "canceled":
      return end(deps, held, { confirmed: step.confirmed, outcome: "canceled" });
    case "unknown":
      return end(deps, held, { confirmed: false, outcome: "failed", error: unknownStatus(step.why) });
    case "retry": {
      const progress = { ...parseCancelProgress(held), deliveryUnconfirmed: step.marker };
      const release = { lastError: step.why, progress: cancelProgressJson(progress) };
      return void (await crossing(deps, "cancel.release", () => ledger.release(held, release)));
    }
    case "failed":
      return void (await crossing(deps, "cancel.fail", () =>
        ledger.fail(held, { error: step.error, result: null }),
      ));
    default:
      return assertNever(step);
  }
}

function unknownStatus(why: string): TurnError {
  return { code: "execution_status_unknown", message: why };
}

async function fail(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  const error = { code: "cancel_unsupported", message: "this agent cannot be told to stop a turn" };
  await crossing(deps, "cancel.fail", () => operationLedger(deps).fail(held, { error, result: null }));
}

interface Ending {
  readonly confirmed: boolean;
  /** Of a turn that still goes on; one that is settled keeps its own. */
  readonly outcome?: TurnOutcome;
  readonly error?: TurnError;
}

/** The end of the turn and that of its cancellation are one transaction. */
async function end(deps: SessionDeps, held: LeasedOperation, ending: Ending): Promise<void> {
  const settled = await crossing(deps, "cancel.complete", () =>
    deps.store.transaction(() => {
      const inside = { ...deps, store: insideTransaction(deps.store) };
      const turn = settle(inside, held, ending);
      operationLedger(inside).complete(held, cancelEndJson(endOf(turn, ending)));
      return turn;
    }),
  );
  await keepCheckpoint(deps, requireSession(deps, settled.sessionId), { turn: settled, edge: "end" });
}

function settle(deps: SessionDeps, held: LeasedOperation, { outcome, error }: Ending): SettledTurn {
  const stored = requireTurn(deps, turnOf(held));
  if (isSettledTurn(stored)) return stored;
  const { turn } = recordTurnTransition(deps, {
    ...{ projectId: stored.projectId, sessionId: stored.sessionId, turnId: stored.turnId },
    ...{ phase: "settled", birth: stored, occurredAtMs: Math.max(deps.clock.nowMs(), stored.updatedAtMs) },
    ...(outcome !== undefined && { outcome }),
    ...(error !== undefined && { error }),
  });
  if (isSettledTurn(turn)) return turn;
  throw new Error(`turn ${turn.turnId} was not settled`);
}

function endOf({ state, error }: SettledTurn, { confirmed }: Ending): CancelEnd {
  const { outcome } = state;
  const isUnknown = outcome === "failed" && error?.code === "execution_status_unknown";
  if (isUnknown) return { result: "execution_status_unknown", outcome, providerConfirmed: false };
  const result = outcome === "canceled" ? "canceled" : "already_settled";
  return { result, outcome, providerConfirmed: confirmed && outcome === "canceled" };
}
