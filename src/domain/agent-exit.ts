import type { RuntimeFact } from "./facts.ts";

/** How the process of an agent ended, as its runtime kept it: by a status of its own or by a signal. */
export interface AgentExit {
  readonly status: number | null;
  /** For example `SIGKILL`. */
  readonly signal: string | null;
  /** Unix milliseconds, to the second; `null` where the runtime does not tell. */
  readonly atMs: number | null;
}

/** The ending that a look saw; `null` for none, also for one that the runtime has not learnt itself. Pure. */
export function exitSeen(runtime: RuntimeFact): AgentExit | null {
  if (runtime.kind !== "exited") return null;
  const { exitStatus: status, signal, atMs = null } = runtime;
  return status === null && signal === null ? null : { status, signal, atMs };
}

/** In as few words as a column of a table has room for. Pure. */
export function describeExit({ status, signal }: AgentExit): string {
  return signal ?? `exit ${status}`;
}
