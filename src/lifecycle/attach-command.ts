import type { SessionId } from "../domain/ids.ts";
import type { SessionDeps } from "./deps.ts";

export interface AttachCommand {
  /** `switch` moves the surrounding client, on the same server; `attach` takes the terminal over. */
  readonly kind: "attach" | "switch";
  readonly argv: readonly string[];
}

/**
 * The command that shows a live session's terminal.
 *
 * @throws AoError session_not_found
 * @throws AoError not_running when the agent is gone.
 * @throws AoError runtime_unavailable when it could not look.
 */
export declare function attachCommand(
  deps: Pick<SessionDeps, "store" | "runtime" | "callerEnv">,
  id: SessionId,
): Promise<AttachCommand>;
