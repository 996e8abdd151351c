import type { SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { SessionDeps } from "./deps.ts";
import { liveTarget, requireSight } from "./live-target.ts";
import { foldFacts } from "./observe/fold-facts.ts";
import { gatherFacts, lookFailures, type ObserveDeps } from "./observe/gather-facts.ts";
import { requireSession } from "./session-refs.ts";

export interface AttachCommand {
  /** `switch` moves the surrounding client, on the same server; `attach` takes the terminal over. */
  readonly kind: "attach" | "switch";
  readonly argv: readonly string[];
}

/**
 * The command that shows a live session's terminal. Writes nothing.
 *
 * @throws AoError session_not_found
 * @throws AoError not_running when the session is over or its agent gone.
 * @throws AoError runtime_unavailable when it could not look.
 */
export async function attachCommand(
  deps: ObserveDeps & Pick<SessionDeps, "callerEnv">,
  id: SessionId,
): Promise<AttachCommand> {
  const stored = requireSession(deps, id);
  const facts = await gatherFacts(deps, {
    load: () => [stored],
    lookAt: ({ lifecycle }) => !isTerminal(lifecycle),
  });
  requireSight(lookFailures(facts));
  const { handle } = liveTarget(foldFacts(deps, facts, stored), facts.seen.get(id));
  const argv = deps.runtime.switchArgv(handle, deps.callerEnv);
  return argv === undefined
    ? { kind: "attach", argv: deps.runtime.attachArgv(handle, deps.callerEnv) }
    : { kind: "switch", argv };
}
