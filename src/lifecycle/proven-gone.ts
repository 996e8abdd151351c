import type { SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { SessionDeps } from "./deps.ts";
import { requireSession } from "./session-refs.ts";

/**
 * Whether a session's agent is gone for certain: the session is known to be over, or no process of the recorded pid,
 * start time and boot id lives. One that cannot be looked at is not.
 * @throws AoError session_not_found
 */
export async function isProvenGone(
  deps: Pick<SessionDeps, "store" | "processes">,
  id: SessionId,
): Promise<boolean> {
  const { lifecycle, metadata } = requireSession(deps, id);
  if (isTerminal(lifecycle) || metadata.process === null) return isTerminal(lifecycle);
  const [fact] = await deps.processes.look([metadata.process]);
  return fact?.kind === "dead";
}
