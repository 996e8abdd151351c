import type { SessionSubstate } from "./lifecycle.ts";

/** An ending as far as it is told, by a status of the agent's own or by a signal. */
interface Ending {
  readonly status: number | null;
  readonly signal: string | null;
}

/**
 * What a reason says whose word misleads those who do not know it, in a sentence for people; `null` for one that
 * speaks for itself. Pure and total.
 */
export function meaningOf({ state, reason }: SessionSubstate, exit: Ending | null): string | null {
  switch (reason) {
    case "runtime_lost":
      return state === "terminated"
        ? whoEnded(exit)
        : "its terminal is not there, and nothing proves its agent dead";
    case "agent_process_exited":
      return state === "terminated" ? whoEnded(exit) : "its agent has ended, and its terminal is there";
    case "research_complete":
      return "its agent rests after what it was asked";
    case "probe_failure":
      return "it could not be looked at, so nothing is known of it now";
    default:
      return null;
  }
}

function whoEnded(exit: Ending | null): string {
  if (exit === null) return "ao did not end it: its agent was found gone, with its terminal";
  if (exit.signal !== null) return `ao did not end it: its agent was ended by ${exit.signal}`;
  return `ao did not end it: its agent ended by itself, with status ${exit.status}`;
}
