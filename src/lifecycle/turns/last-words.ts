import type { SessionId } from "../../domain/ids.ts";
import type { SessionDeps } from "../deps.ts";
import { hearSession } from "../messages/observe-target.ts";

/**
 * Records what the agent of a session that was just ended told at last, and how its turn ended. The session is over
 * in any case: what cannot be read now is left to the next who looks.
 */
export async function recordLastWords(deps: SessionDeps, id: SessionId): Promise<void> {
  await hearSession(deps, id, { areLast: true }).catch(() => undefined);
}
