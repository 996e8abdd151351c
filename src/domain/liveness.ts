import type { SessionSubstate } from "./lifecycle.ts";

/**
 * Whether doubt about its life put a session where it is, and not its agent's activity: `detecting`, or
 * any state, `stuck` among them, for a reason that only a look at the runtime gives.
 */
export function isSetByLiveness(session: SessionSubstate): boolean {
  return (
    session.state === "detecting" ||
    session.reason === "runtime_lost" ||
    session.reason === "agent_process_exited" ||
    session.reason === "probe_failure"
  );
}
