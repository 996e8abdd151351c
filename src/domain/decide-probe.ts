import { assertNever } from "./assert-never.ts";
import type { ProcessFact, RuntimeFact } from "./facts.ts";
import type { SessionReason } from "./lifecycle.ts";

/** What one look says of a session, before any memory of earlier looks. */
export interface ProbeVerdict {
  readonly state: "working" | "detecting" | "terminated";
  readonly reason: SessionReason;
}

export interface ProbeInput {
  readonly runtime: RuntimeFact;
  readonly process: ProcessFact;
  readonly killRequested: boolean;
  readonly recentlyActive: boolean;
}

/**
 * Judges one look at a runtime and its process. Pure and total.
 *
 * The only inferred death is a runtime that is gone, with a process that is dead, of an agent that was
 * not heard from lately; or whose boot is over, which no recent word of it outlives. A look that failed is
 * doubt, never death.
 */
export function decideProbe(input: ProbeInput): ProbeVerdict {
  const { runtime, process } = input;
  if (input.killRequested) return { state: "terminated", reason: "manually_killed" };
  if (runtime.kind === "probe_failed" || process.kind === "probe_failed") {
    return { state: "detecting", reason: "probe_failure" };
  }
  switch (runtime.kind) {
    case "alive":
      return process.kind === "dead"
        ? { state: "detecting", reason: "agent_process_exited" }
        : { state: "working", reason: "task_in_progress" };
    case "exited":
    case "missing":
      return process.kind === "dead" && (process.ofAnotherBoot === true || !input.recentlyActive)
        ? { state: "terminated", reason: "runtime_lost" }
        : { state: "detecting", reason: "runtime_lost" };
    case "unknown":
      return { state: "detecting", reason: "runtime_lost" };
    default:
      return assertNever(runtime);
  }
}
