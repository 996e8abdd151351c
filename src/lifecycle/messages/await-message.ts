import { errorMessage, isAoError } from "../../domain/errors.ts";
import type { MessageId, SessionId } from "../../domain/ids.ts";
import type { Message } from "../../domain/message.ts";
import { cancelMessage } from "../../domain/message-transitions.ts";
import type { SessionDeps } from "../deps.ts";
import { limitCheckpoints } from "../turns/limit-checkpoints.ts";
import { saveMessage } from "./after-typing.ts";
import { deliverNext } from "./deliver-next.ts";
import { requireMessage } from "./message-rows.ts";
import { RECEIPT_MS } from "./readiness.ts";

/** Between two attempts with an agent that cannot take a message yet. */
const POLL_MS = 200;

/** What became of a message within the time that its sender has. */
export interface Awaited {
  readonly message: Message;
  /** Why it is still queued, in one clause; `null` when it is not. */
  readonly waitsFor: string | null;
}

/**
 * Delivers what is queued for a session, in order, until the message is out of the queue, or `timeoutMs` have
 * passed: by the clock or by the time slept, whichever is longer. One that is on its way by then is waited for.
 *
 * @throws AoError not_running when the session ended or its agent is gone; the message is cancelled if it was still
 *   queued, or with `isKept` stays so for a restore.
 * @throws AoError as the messenger, when it could not type this very message.
 */
export async function awaitMessage(
  deps: SessionDeps,
  accepted: Message,
  timeoutMs: number,
  { isKept = false }: { readonly isKept?: boolean } = {},
): Promise<Awaited> {
  if (isOut(accepted)) return { message: accepted, waitsFor: null };
  const { id, sessionId } = accepted;
  const startedAtMs = deps.clock.nowMs();
  const limited = limitCheckpoints(deps, () => timeoutMs - (deps.clock.nowMs() - startedAtMs));
  for (let sleptMs = 0; ; ) {
    const tried = await attempt(limited, sessionId, { id, isKept });
    const message = requireMessage(deps, id);
    const waitsFor = message.state.kind === "queued" ? tried.why : null;
    if (isOut(message)) return { message, waitsFor };
    const leftMs = timeLeft(message, timeoutMs) - Math.max(sleptMs, deps.clock.nowMs() - startedAtMs);
    if (leftMs <= 0) return { message, waitsFor };
    if (tried.isProgress) continue;
    const pauseMs = Math.min(POLL_MS, leftMs);
    await deps.clock.sleep(pauseMs);
    sleptMs += pauseMs;
  }
}

function isOut({ state }: Message): boolean {
  return state.kind !== "queued" && state.kind !== "delivering";
}

/** Another process that has it on its way settles it, or dies and is followed by this one. */
function timeLeft({ state }: Message, timeoutMs: number): number {
  return state.kind === "delivering" ? timeoutMs + 2 * RECEIPT_MS : timeoutMs;
}

interface Tried {
  /** A message went out of the queue: the next may go at once. */
  readonly isProgress: boolean;
  readonly why: string;
}

interface Sought {
  readonly id: MessageId;
  readonly isKept: boolean;
}

async function attempt(deps: SessionDeps, sessionId: SessionId, sought: Sought): Promise<Tried> {
  const headId = deps.messages.firstQueued(sessionId)?.id;
  try {
    const next = await deliverNext(deps, sessionId);
    const why = next.kind === "not_ready" ? next.why : "another message is being delivered";
    return { isProgress: next.kind === "tried", why };
  } catch (error) {
    const isProgress = deps.messages.firstQueued(sessionId)?.id !== headId;
    return afterFailure(deps, sought, { error, isProgress });
  }
}

/** @throws what will not pass by itself. */
function afterFailure(
  deps: SessionDeps,
  { id, isKept }: Sought,
  { error, isProgress }: { readonly error: unknown; readonly isProgress: boolean },
): Tried {
  const message = requireMessage(deps, id);
  // Of a message that failed the failure is its own; one that waits may have met that of another.
  if (isAoError(error, "runtime_unavailable") || isAoError(error, "store_busy")) {
    return { isProgress: false, why: errorMessage(error) };
  }
  if (message.state.kind !== "queued") throw error;
  if (!isAoError(error, "not_running")) {
    if (!isProgress) throw error;
    return { isProgress, why: errorMessage(error) };
  }
  if (!isKept) saveMessage(deps, message, cancelMessage(message, errorMessage(error), deps.clock.nowMs()));
  throw error;
}
