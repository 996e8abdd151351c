import { AoError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { AgentCapabilities } from "../ports/agent.ts";
import type { RuntimeTarget } from "../ports/runtime.ts";
import type { SessionDeps } from "./deps.ts";
import { gatherFacts, lookFailures } from "./gather-facts.ts";
import { liveTarget, requireSight } from "./live-target.ts";
import { saveFacts } from "./observe-sessions.ts";
import { requireSession } from "./session-refs.ts";

const MAX_BYTES = 1024 * 1024;
/** Between two looks at an agent that cannot take a message yet. */
const POLL_MS = 200;

export interface SendOptions {
  /** Longest wait for an agent that cannot take a message yet, and again for its receipt, in milliseconds. */
  readonly timeoutMs: number;
}

export interface SendResult {
  readonly messageId: string;
  readonly sessionId: SessionId;
  /** `unconfirmed` only for agents that cannot confirm. */
  readonly state: "delivered" | "unconfirmed";
  readonly turnId: null;
}

/**
 * Brings a message to a session's agent.
 *
 * @throws AoError usage when the text is empty, holds NUL or is over 1 MiB.
 * @throws AoError session_not_found
 * @throws AoError not_running when the session is terminated or its agent gone.
 * @throws AoError busy when within `timeoutMs` the agent was not heard from, or asked for permission to do
 *   something and got no answer; nothing was sent.
 * @throws AoError delivery_unconfirmed when an agent that confirms did not; it may have the message.
 * @throws AoError message_unsafe when the text holds control characters that its terminal would take as keys.
 * @throws AoError delivery_failed, runtime_unavailable
 */
export async function sendMessage(
  deps: SessionDeps,
  id: SessionId,
  text: string,
  { timeoutMs }: SendOptions,
): Promise<SendResult> {
  refuseBadMessage(text);
  await deps.runtime.reopen();
  const { target, capabilities } = await readyAgent(deps, id, timeoutMs);
  const { receipts = false, bracketedPaste = false } = capabilities ?? {};
  const messageId = deps.ids.uuid();
  const { state } = await deps.messenger.send({ ...target, receipts, bracketedPaste }, text, timeoutMs);
  if (state === "unconfirmed" && receipts) throw unconfirmed(id, messageId);
  return { messageId, sessionId: id, state, turnId: null };
}

function refuseBadMessage(text: string): void {
  if (text.trim() === "") throw new AoError("usage", "the message is empty");
  if (text.includes("\0")) throw new AoError("usage", "the message contains a NUL character");
  // UTF-8 takes at most 3 bytes for a UTF-16 code unit (RFC 3629).
  const mayBeLong = text.length * 3 > MAX_BYTES;
  if (!mayBeLong || new TextEncoder().encode(text).length <= MAX_BYTES) return;
  throw new AoError("usage", "the message is longer than 1 MiB", {
    hint: "put it into a file of the worktree and send the file's name",
  });
}

interface ReadyAgent {
  readonly target: RuntimeTarget;
  readonly capabilities: AgentCapabilities | undefined;
}

/** Waits for an agent that can take a message, as long as the clock and the time slept both allow. */
async function readyAgent(deps: SessionDeps, id: SessionId, timeoutMs: number): Promise<ReadyAgent> {
  const startedAtMs = deps.clock.nowMs();
  for (let sleptMs = 0; ; ) {
    const { record, target } = await observeAlive(deps, id);
    const capabilities = deps.agents.get(record.metadata.agent)?.capabilities;
    const busy = whyBusy(record, capabilities);
    if (busy === null) return { target, capabilities };
    const leftMs = timeoutMs - Math.max(sleptMs, deps.clock.nowMs() - startedAtMs);
    if (leftMs <= 0) throw busy;
    const pauseMs = Math.min(POLL_MS, leftMs);
    await deps.clock.sleep(pauseMs);
    sleptMs += pauseMs;
  }
}

/** An agent that reports through hooks is typed to only after it was first heard from. */
function whyBusy(
  { id, lifecycle, metadata }: SessionRecord,
  capabilities: AgentCapabilities | undefined,
): AoError | null {
  if (lifecycle.session.state === "not_started" && capabilities?.hooks === true) {
    return new AoError("busy", `the agent of ${id} has not begun yet`, {
      hint: `see what it waits for: ao output ${id}`,
    });
  }
  const isWaiting = lifecycle.activity.state === "waiting_input";
  if (!isWaiting || metadata.heard?.asks !== "permission") return null;
  return new AoError("busy", `the agent of ${id} asks for permission, which a message would answer`, {
    hint: `answer it: ao attach ${id}`,
  });
}

async function observeAlive(
  deps: SessionDeps,
  id: SessionId,
): Promise<{ readonly record: SessionRecord; readonly target: RuntimeTarget }> {
  const load = () => [requireSession(deps, id)];
  const facts = await gatherFacts(deps, { load, lookAt: ({ lifecycle }) => !isTerminal(lifecycle) });
  requireSight(lookFailures(facts));
  await saveFacts(deps, facts);
  const record = requireSession(deps, id);
  return { record, target: liveTarget(record, facts.seen.get(id)) };
}

function unconfirmed(id: SessionId, messageId: string): AoError {
  return new AoError("delivery_unconfirmed", `the agent of ${id} did not confirm the message`, {
    hint: `it may have arrived; look before sending again: ao output ${id}`,
    details: { messageId, sessionId: id },
  });
}
