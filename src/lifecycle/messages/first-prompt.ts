import { errorMessage } from "../../domain/errors.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { requireSession } from "../session-refs.ts";
import { awaitMessage } from "./await-message.ts";

/** How long an agent that was just started has to show that it takes its first prompt. */
const READY_MS = 30_000;

interface Started {
  readonly record: SessionRecord;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}

/**
 * Sends the first prompt to an agent that takes it as a message, as soon as it is ready. The session stands whatever
 * becomes of it: what could not be sent is a warning, and stays queued for whoever comes next.
 */
export async function withFirstPrompt<Result extends Started>(
  deps: SessionDeps,
  started: Result,
): Promise<Result> {
  const { id, metadata } = started.record;
  const capabilities = deps.agents.get(metadata.agent)?.capabilities;
  if (capabilities?.firstPrompt !== "message") return started;
  const readyMs = capabilities.readyWithinMs ?? READY_MS;
  const queued = deps.messages.firstQueued(id);
  if (queued?.channel !== "launch") return started;
  const warning = await send();
  const warnings = [...started.warnings, ...(warning === null ? [] : [warning])];
  return { ...started, record: requireSession(deps, id), warnings };

  async function send(): Promise<string | null> {
    try {
      const { message, waitsFor } = await awaitMessage(deps, queuedMessage(), readyMs);
      if (message.state.kind === "delivered" || message.state.kind === "unconfirmed") return null;
      return `the prompt was not sent yet: ${waitsFor ?? message.state.kind}; ao reconcile sends it when it can`;
    } catch (error) {
      return `the prompt was not sent: ${errorMessage(error)}`;
    }
  }

  function queuedMessage() {
    if (queued === undefined) throw new Error("no prompt is queued");
    return queued;
  }
}
