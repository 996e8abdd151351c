import { errorMessage, isAoError } from "../../domain/errors.ts";
import type { Message } from "../../domain/message.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { requireSession } from "../session-refs.ts";
import { awaitMessage } from "./await-message.ts";
import { requireMessage } from "./message-rows.ts";

/** How long an agent that was just started has to show that it takes its first prompt. */
const READY_MS = 30_000;

interface Started {
  readonly record: SessionRecord;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}

/**
 * Sends the first prompt to an agent that takes it as a message, as soon as it is ready. The session stands whatever
 * becomes of it: see `sendFirst`.
 */
export async function withFirstPrompt<Result extends Started>(
  deps: SessionDeps,
  started: Result,
): Promise<Result> {
  const { id, metadata } = started.record;
  const capabilities = deps.agents.get(metadata.agent)?.capabilities;
  if (capabilities?.firstPrompt !== "message") return started;
  const queued = deps.messages.firstQueued(id);
  if (queued?.channel !== "launch") return started;
  const warning = await sendFirst(deps, queued, capabilities.readyWithinMs ?? READY_MS);
  const warnings = [...started.warnings, ...(warning === null ? [] : [warning])];
  return { ...started, record: requireSession(deps, id), warnings };
}

/**
 * Sends what is queued first for an agent that was just started, within `readyMs`.
 *
 * @returns why it was not sent, for a person, and what sends it: it stays queued, for a restore when its agent is gone.
 *   `null` when it was.
 */
export async function sendFirst(deps: SessionDeps, queued: Message, readyMs: number): Promise<string | null> {
  try {
    const { message, waitsFor } = await awaitMessage(deps, queued, readyMs, { isKept: true });
    if (message.state.kind === "delivered" || message.state.kind === "unconfirmed") return null;
    return `the prompt was not sent yet: ${waitsFor ?? message.state.kind}; ${LATER}`;
  } catch (error) {
    const isQueued = requireMessage(deps, queued.id).state.kind === "queued";
    return `the prompt was not sent: ${errorMessage(error)}${isQueued ? `; ${whenSent(error)}` : ""}`;
  }
}

const LATER = "ao reconcile sends it when it can";

function whenSent(error: unknown): string {
  return isAoError(error, "not_running") && error.hint !== null ? `it waits for: ${error.hint}` : LATER;
}
