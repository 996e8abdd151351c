import { AoError } from "../../domain/errors.ts";
import type { RuntimeSpec } from "../../ports/runtime.ts";

/** What an agent does once it is started. */
export type MemoryRun =
  | { readonly kind: "stays"; readonly output: readonly string[] }
  | { readonly kind: "exits"; readonly exitStatus: number; readonly output: readonly string[] }
  | { readonly kind: "no_workspace" };

/** What a start says of an agent that did not stay. Pure. */
export function startFailure(run: Exclude<MemoryRun, { kind: "stays" }>, spec: RuntimeSpec): AoError {
  if (run.kind === "no_workspace") {
    return new AoError("agent_start_failed", `workspace ${spec.workspacePath} is not there`, {
      details: { exitStatus: 97, signal: null, output: [] },
    });
  }
  return new AoError("agent_start_failed", `agent of ${spec.sessionId} exited with ${run.exitStatus}`, {
    details: { exitStatus: run.exitStatus, signal: null, output: run.output },
  });
}
