import type { CancelAnswer } from "../../domain/cancel-answer.ts";
import { AoError, errorMessage, isAoError } from "../../domain/errors.ts";
import type { LaunchId } from "../../domain/ids.ts";
import { isSettledTurn, type Turn, type TurnKey } from "../../domain/turn.ts";
import type { Fence } from "../../ports/fence.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import type { AgentCancel } from "../../ports/turn-cancel.ts";
import type { SessionDeps } from "../deps.ts";
import { agentPlace } from "../launch-agent.ts";
import { messagesLock } from "../messages/messages-lock.ts";
import { hearSession, observeLive } from "../messages/observe-target.ts";
import { crossing } from "../operations/crossing.ts";
import { patience } from "../patience.ts";
import { isProvenGone } from "../proven-gone.ts";
import { requireSession, runtimeTarget } from "../session-refs.ts";
import { endTools } from "./end-tools.ts";

/** How long an agent's own evidence is waited for, and before that for the turn to run. */
const EVIDENCE_MS = 3_000;
const POLL_MS = 50;

export interface Asking {
  readonly key: TurnKey;
  readonly cancel: AgentCancel;
  /** Puts on record that the agent is told next. */
  readonly onTelling: () => Promise<void>;
  /** Asked right before the agent is told. */
  readonly fence: Fence;
}

/**
 * Tells an agent to stop a turn, and says what came of it. What the agent tells meanwhile is recorded, so the turn
 * may be settled when this answers: then that is the truth, whatever the answer.
 */
export async function askAgent(deps: SessionDeps, asking: Asking): Promise<CancelAnswer> {
  const { cancel } = asking;
  return cancel.kind === "call" ? call(deps, { ...asking, cancel }) : press(deps, { ...asking, cancel });
}

async function call(
  deps: SessionDeps,
  asking: Asking & { readonly cancel: Extract<AgentCancel, { readonly kind: "call" }> },
): Promise<CancelAnswer> {
  const { key, cancel, onTelling } = asking;
  const record = requireSession(deps, key.sessionId);
  const runtime = runtimeTarget(record);
  if (runtime === undefined) return { kind: "disconnected", detail: "no runtime is recorded" };
  const { turnId } = key;
  const { bracketedPaste = false } = deps.agents.get(record.metadata.agent)?.capabilities ?? {};
  const target = { ...runtime, ...agentPlace(deps.dataDir, record), bracketedPaste };
  return alone(deps, key, async () => {
    await onTelling();
    try {
      return await crossing(deps, "cancel.tell", async () => {
        return (await whyNotNow(deps, asking, runtime)) ?? cancel.cancelTurn({ ...target, turnId });
      });
    } catch (error) {
      return { kind: "delivery_unconfirmed", detail: errorMessage(error) };
    }
  });
}

/**
 * Nothing is delivered to the agent meanwhile: what stops one turn must never meet the next one.
 *
 * @throws what `work` throws.
 */
async function alone(
  { locks }: Pick<SessionDeps, "locks">,
  { sessionId }: TurnKey,
  work: () => Promise<CancelAnswer>,
): Promise<CancelAnswer> {
  let isIn = false;
  try {
    return await locks.withLock(messagesLock(sessionId), enter, { waitMs: EVIDENCE_MS });
  } catch (error) {
    if (isIn || !isAoError(error, "operation_in_progress")) throw error;
    return { kind: "disconnected", detail: "a message is on its way to the agent" };
  }

  function enter(): Promise<CancelAnswer> {
    isIn = true;
    return work();
  }
}

/** Who was stopped on the way here finds another turn, another agent, or the work with somebody else. */
async function whyNotNow(
  deps: SessionDeps,
  { key, fence }: Pick<Asking, "key" | "fence">,
  { launchId }: RuntimeTarget,
): Promise<CancelAnswer | null> {
  fence();
  await hearSession(deps, key.sessionId);
  return whyNotRunning(requireTurn(deps, key), launchId);
}

type Pressing = Asking & { readonly cancel: Extract<AgentCancel, { readonly kind: "keys" }> };

async function press(deps: SessionDeps, asking: Pressing): Promise<CancelAnswer> {
  const running = await untilRunning(deps, asking.key);
  if (running.kind !== "running") return running.answer;
  return alone(deps, asking.key, () => pressAlone(deps, asking, running));
}

async function pressAlone(
  deps: SessionDeps,
  asking: Pressing,
  running: Extract<Running, { readonly kind: "running" }>,
): Promise<CancelAnswer> {
  const { key, cancel, onTelling } = asking;
  await onTelling();
  try {
    const late = await crossing(deps, "cancel.tell", async () => {
      const why = await whyNotNow(deps, asking, running.target);
      if (why === null) await deps.messenger.press(running.target, cancel.keys);
      return why;
    });
    if (late !== null) return late;
  } catch (error) {
    return refusedAnswer(deps, key, error);
  }
  if (await isSettledIn(deps, key, EVIDENCE_MS)) {
    const answer = evidence(deps, key);
    if (answer.kind === "confirmed") await tidyUp(deps, asking, running.target);
    return answer;
  }
  const detail = `the agent told nothing within ${EVIDENCE_MS / 1000} s`;
  return (await isProvenGone(deps, key.sessionId)) ? gone() : { kind: "delivery_unconfirmed", detail };
}

/** A turn that is stopped stays so: what cannot be done about what it left is no matter of its cancellation. */
async function tidyUp(deps: SessionDeps, { key, cancel }: Pressing, target: RuntimeTarget): Promise<void> {
  await clearInput(deps, target, cancel.clearing ?? []);
  await endLeftTools(deps, { key, cancel }, target);
}

async function endLeftTools(
  deps: SessionDeps,
  { key, cancel }: Pick<Pressing, "key" | "cancel">,
  { launchId }: RuntimeTarget,
): Promise<void> {
  const marks = await cancel.toolMarks?.(agentPlace(deps.dataDir, requireSession(deps, key.sessionId)));
  await endTools(deps, launchId, marks ?? []);
}

/**
 * Ends the tools of a turn that keys have stopped, when whoever pressed them did not live or wait to hear of it. No
 * longer once another turn has begun, whose tools they might be. Its input line is by then a person's.
 */
export async function tidyUpLate(
  deps: SessionDeps,
  { key, cancel }: Pick<Asking, "key" | "cancel">,
): Promise<void> {
  if (cancel.kind !== "keys" || evidence(deps, key).kind !== "confirmed") return;
  const seen = await lookAt(deps, key);
  if (seen.kind !== "running" || seen.target.launchId !== requireTurn(deps, key).launchId) return;
  await alone(deps, key, async () => {
    const isNewest = deps.turns.newest(key.sessionId)?.turnId === key.turnId;
    if (isNewest) await endLeftTools(deps, { key, cancel }, seen.target);
    return { kind: "target_absent" };
  });
}

async function clearInput(
  { messenger }: Pick<SessionDeps, "messenger">,
  target: RuntimeTarget,
  keys: readonly string[],
): Promise<void> {
  if (keys.length > 0) await messenger.press(target, keys).catch(() => undefined);
}

type Running =
  | { readonly kind: "running"; readonly target: NonNullable<ReturnType<typeof runtimeTarget>> }
  | { readonly kind: "not_running"; readonly answer: CancelAnswer };

/** Keys are pressed only while the turn runs: else they would mean something else. */
async function untilRunning(deps: SessionDeps, key: TurnKey): Promise<Running> {
  const isOver = patience(deps.clock, EVIDENCE_MS);
  for (;;) {
    const seen = await lookAt(deps, key);
    if (seen.kind === "not_running") return seen;
    const turn = requireTurn(deps, key);
    const answer = whyNotRunning(turn, seen.target.launchId);
    if (answer !== null) return answered(answer);
    if (turn.state.kind !== "submitted") return seen;
    if (isOver()) {
      return answered({ kind: "disconnected", detail: "the agent has not taken the prompt up yet" });
    }
    await isOver.pause(POLL_MS);
  }
}

function whyNotRunning(turn: Turn, launchId: LaunchId): CancelAnswer | null {
  if (isSettledTurn(turn)) return { kind: "target_absent" };
  return turn.launchId === launchId ? null : gone();
}

async function lookAt(deps: SessionDeps, key: TurnKey): Promise<Running> {
  try {
    return { kind: "running", target: (await observeLive(deps, key.sessionId)).target };
  } catch (error) {
    return answered(await refusedAnswer(deps, key, error));
  }
}

function answered(answer: CancelAnswer): Running {
  return { kind: "not_running", answer };
}

async function refusedAnswer(deps: SessionDeps, key: TurnKey, error: unknown): Promise<CancelAnswer> {
  const { code, message } = isAoError(error) ? error : new AoError("internal", errorMessage(error));
  if (code === "not_running" && (await isProvenGone(deps, key.sessionId))) return gone();
  return code === "delivery_failed"
    ? { kind: "error", code, message }
    : { kind: "disconnected", detail: message };
}

function gone(): CancelAnswer {
  return { kind: "state_lost", detail: "the agent's process is gone" };
}

async function isSettledIn(deps: SessionDeps, key: TurnKey, withinMs: number): Promise<boolean> {
  const isOver = patience(deps.clock, withinMs);
  for (;;) {
    await hearSession(deps, key.sessionId);
    if (isSettledTurn(requireTurn(deps, key))) return true;
    if (isOver()) return false;
    await isOver.pause(POLL_MS);
  }
}

/** Stopped by the keys, or ended by itself at the same moment. */
function evidence(deps: SessionDeps, key: TurnKey): CancelAnswer {
  const turn = requireTurn(deps, key);
  const isStopped =
    isSettledTurn(turn) && turn.state.outcome !== "completed" && turn.state.outcome !== "failed";
  return { kind: isStopped ? "confirmed" : "target_absent" };
}

/** @throws AoError turn_not_found */
export function requireTurn({ turns }: Pick<SessionDeps, "turns">, key: TurnKey): Turn {
  const turn = turns.get(key);
  if (turn !== undefined) return turn;
  throw new AoError("turn_not_found", `session ${key.sessionId} has no turn ${key.turnId}`);
}
