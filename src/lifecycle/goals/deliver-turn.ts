import { isAoError } from "../../domain/errors.ts";
import type { MessageId, SessionId } from "../../domain/ids.ts";
import { isDelivering } from "../../domain/message.ts";
import type { SessionDeps } from "../deps.ts";
import { deliverNext } from "../messages/deliver-next.ts";

/** Between two looks at an agent that cannot take a message yet. */
const POLL_MS = 200;

/**
 * Delivers what is queued for a session, in order, until the message is out of the queue or `waitMs` have passed. An
 * agent that is gone or out of reach is no error: whoever comes next delivers it.
 */
export async function deliverTurn(
  deps: SessionDeps,
  sessionId: SessionId,
  { id, waitMs }: { readonly id: MessageId; readonly waitMs: number },
): Promise<void> {
  for (let waitedMs = 0; isWaiting(deps, id); ) {
    const next = await tryNext(deps, sessionId);
    if (next === "tried") continue;
    if (next === "unreachable" || waitedMs >= waitMs) return;
    await deps.clock.sleep(POLL_MS);
    waitedMs += POLL_MS;
  }
}

function isWaiting({ messages }: Pick<SessionDeps, "messages">, id: MessageId): boolean {
  const message = messages.get(id);
  return message !== undefined && (message.state.kind === "queued" || isDelivering(message));
}

async function tryNext(deps: SessionDeps, sessionId: SessionId): Promise<"tried" | "later" | "unreachable"> {
  try {
    const { kind } = await deliverNext(deps, sessionId);
    return kind === "tried" ? "tried" : "later";
  } catch (error) {
    if (isAoError(error, "not_running") || isAoError(error, "runtime_unavailable")) return "unreachable";
    // Whatever became of the message is told by its state.
    if (isAoError(error)) return "later";
    throw error;
  }
}
