import type { SessionId } from "../domain/ids.ts";
import type { SessionDeps } from "./deps.ts";

/**
 * The last `lines` lines of a session's terminal, oldest first. A dead agent's screen can be read until
 * its runtime is removed.
 *
 * @throws AoError session_not_found, not_running, runtime_unavailable
 */
export declare function captureOutput(
  deps: Pick<SessionDeps, "store" | "runtime">,
  id: SessionId,
  lines: number,
): Promise<readonly string[]>;
