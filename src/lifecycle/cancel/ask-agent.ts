import type { CancelAnswer } from "../../domain/cancel-answer.ts";
import { AoError, errorMessage, isAoError } from "../../domain/errors.ts";
import type { LaunchId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { isSettledTurn, type Turn, type TurnKey } from "../../domain/turn.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import type { AgentCancel } from "../../ports/turn-cancel.ts";
import type { SessionDeps } from "../deps.ts";
import { agentPlace } from "../launch-agent.ts";
import { hearSession, observeLive } from "../messages/observe-target.ts";
import { crossing } from "../operations/crossing.ts";
import { requireSession, runtimeTarget } from "../session-refs.ts";

/** How long an agent's own evidence is waited for, and before that for the turn to run. */
const EVIDENCE_MS = 3_000;
const POLL_MS = 50;

export interface Asking {
  readonly key: TurnKey;
  readonly cancel: AgentCancel;
  /** Puts on record that the agent is told next. */
  readonly onTelling: () => Promise<void>;
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
  { key, cancel, onTelling }: Asking & { readonly cancel: Extract<AgentCancel, { readonly kind: "call" }> },
): Promise<CancelAnswer> {
  const record = requireSession(deps, key.sessionId);
  const runtime = runtimeTarget(record);
  if (runtime === undefined) return { kind: "disconnected", detail: "no runtime is recorded" };
  await onTelling();
  try {
    const { turnId } = key;
    const { bracketedPaste = false } = deps.agents.get(record.metadata.agent)?.capabilities ?? {};
    const target = { ...runtime, ...agentPlace(deps.dataDir, record), bracketedPaste };
    return await crossing(deps, "cancel.tell", () => cancel.cancelTurn({ ...target, turnId }));
  } catch (error) {
    return { kind: "delivery_unconfirmed", detail: errorMessage(error) };
  }
}

async function press(
  deps: SessionDeps,
  { key, cancel, onTelling }: Asking & { readonly cancel: Extract<AgentCancel, { readonly kind: "keys" }> },
): Promise<CancelAnswer> {
  const running = await untilRunning(deps, key);
  if (running.kind !== "running") return running.answer;
  await onTelling();
  try {
    await crossing(deps, "cancel.tell", () => deps.messenger.press(running.target, cancel.keys));
  } catch (error) {
    return refusedAnswer(deps, key, error);
  }
  if (await isSettledIn(deps, key, EVIDENCE_MS)) {
    const answer = evidence(deps, key);
    if (answer.kind === "confirmed") await clearInput(deps, running.target, cancel.clearing ?? []);
    return answer;
  }
  const detail = `the agent told nothing within ${EVIDENCE_MS / 1000} s`;
  return (await isProvenGone(deps, key)) ? gone() : { kind: "delivery_unconfirmed", detail };
}

/** A turn that is stopped stays so: what cannot be pressed now is no matter of its cancellation. */
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
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    const seen = await lookAt(deps, key);
    if (seen.kind === "not_running") return seen;
    const turn = requireTurn(deps, key);
    const answer = whyNotRunning(turn, seen.target.launchId);
    if (answer !== null) return answered(answer);
    if (turn.state.kind !== "submitted") return seen;
    if (waitedMs >= EVIDENCE_MS) {
      return answered({ kind: "disconnected", detail: "the agent has not taken the prompt up yet" });
    }
    await deps.clock.sleep(POLL_MS);
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
  if (code === "not_running" && (await isProvenGone(deps, key))) return gone();
  return code === "delivery_failed"
    ? { kind: "error", code, message }
    : { kind: "disconnected", detail: message };
}

function gone(): CancelAnswer {
  return { kind: "state_lost", detail: "the agent's process is gone" };
}

/** By pid, start time and boot id, or because the session is known to be over. */
async function isProvenGone(deps: SessionDeps, { sessionId }: TurnKey): Promise<boolean> {
  const { lifecycle, metadata }: SessionRecord = requireSession(deps, sessionId);
  if (isTerminal(lifecycle) || metadata.process === null) return isTerminal(lifecycle);
  const [fact] = await deps.processes.look([metadata.process]);
  return fact?.kind === "dead";
}

async function isSettledIn(deps: SessionDeps, key: TurnKey, withinMs: number): Promise<boolean> {
  for (let waitedMs = 0; ; waitedMs += POLL_MS) {
    await hearSession(deps, key.sessionId);
    if (isSettledTurn(requireTurn(deps, key))) return true;
    if (waitedMs >= withinMs) return false;
    await deps.clock.sleep(POLL_MS);
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
