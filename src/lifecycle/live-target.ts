import { AoError } from "../domain/errors.ts";
import type { RuntimeObservation } from "../domain/facts.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { RuntimeTarget } from "../ports/runtime.ts";
import { runtimeTarget } from "./session-refs.ts";

/**
 * The runtime of a session whose agent was just seen alive.
 *
 * @throws AoError not_running when the session is over or its agent gone, with the way back as hint.
 */
export function liveTarget(record: SessionRecord, seen: RuntimeObservation | undefined): RuntimeTarget {
  const target = runtimeTarget(record);
  const isOver = isTerminal(record.lifecycle);
  if (target !== undefined && !isOver && seen !== undefined && isAlive(seen)) return target;
  throw notRunning(record);
}

/** The error for a session that is over, or whose agent is gone, with the way back as hint. */
export function notRunning({ id, lifecycle }: SessionRecord): AoError {
  const isOver = isTerminal(lifecycle);
  return new AoError("not_running", isOver ? `session ${id} is terminated` : `the agent of ${id} is gone`, {
    hint: isOver ? `ao restore ${id}` : `ao kill ${id}, then ao restore ${id}`,
  });
}

/** @throws AoError runtime_unavailable when a look failed, with all its causes. */
export function requireSight(failures: readonly string[]): void {
  if (failures.length === 0) return;
  throw new AoError("runtime_unavailable", `could not look at the runtime: ${failures.join("; ")}`, {
    hint: "ao doctor",
    details: { causes: failures },
  });
}

/** Whether an agent that was thought gone may run after all, as far as a look can tell. */
export function mayStillRun(seen: RuntimeObservation | undefined): boolean {
  if (seen === undefined) return false;
  return seen.runtime.kind === "unknown" || seen.process.kind === "alive" || isAlive(seen);
}

function isAlive({ runtime, process }: RuntimeObservation): boolean {
  return runtime.kind === "alive" && process.kind !== "dead";
}
