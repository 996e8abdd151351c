import { AoError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { SessionDeps } from "./deps.ts";
import { requireSession, runtimeTarget } from "./session-refs.ts";

/**
 * Whether nothing more can come on a session's terminal: its agent was seen gone. A look that failed does
 * not say so.
 *
 * @throws AoError session_not_found
 */
export async function hasEnded(
  deps: Pick<SessionDeps, "store" | "runtime">,
  id: SessionId,
): Promise<boolean> {
  const target = runtimeTarget(requireSession(deps, id));
  if (target === undefined) return true;
  const seen = (await deps.runtime.look([target])).get(id)?.runtime.kind;
  return seen === "exited" || seen === "missing";
}

/**
 * The last `lines` lines of a session's terminal, oldest first. A dead agent's screen can be read until
 * its runtime is removed.
 *
 * @throws AoError session_not_found, not_running, runtime_unavailable
 */
export async function captureOutput(
  deps: Pick<SessionDeps, "store" | "runtime">,
  id: SessionId,
  lines: number,
): Promise<readonly string[]> {
  const target = runtimeTarget(requireSession(deps, id));
  if (target !== undefined) return deps.runtime.capture(target, lines);
  throw new AoError("not_running", `session ${id} has no terminal`, { hint: `ao restore ${id}` });
}
