import { isRecentlyActive, sessionForActivity } from "./activity.ts";
import { assertNever } from "./assert-never.ts";
import { decideDetecting, normalizeEvidence } from "./decide-detecting.ts";
import { decideProbe } from "./decide-probe.ts";
import type { ProcessFact, RuntimeFact, RuntimeObservation } from "./facts.ts";
import { keepSame } from "./keep-same.ts";
import {
  type CanonicalLifecycle,
  isTerminal,
  type RuntimeSubstate,
  type SessionSubstate,
} from "./lifecycle.ts";
import { isSetByLiveness } from "./liveness.ts";

export interface ObservationContext {
  readonly nowMs: number;
  /** A digest that is equal for equal text on every machine. */
  readonly digest: (text: string) => string;
}

/**
 * Folds one look at a runtime into a lifecycle. Pure and total; `revision` is the caller's.
 *
 * The runtime substate is always written, of a terminal session nothing else. Doubt and death write the
 * session substate; a healthy look only takes back what an earlier look had set, to what the agent was
 * last heard doing, or to working when it was not heard from. Returns `lifecycle` itself, the same
 * reference, when nothing changed.
 */
export function applyRuntimeObservation(
  lifecycle: CanonicalLifecycle,
  observation: RuntimeObservation,
  context: ObservationContext,
): CanonicalLifecycle {
  const runtime = runtimeSubstate(lifecycle.runtime, observation);
  const judged = isTerminal(lifecycle) ? {} : judge(lifecycle, observation, context);
  return keepSame(lifecycle, { ...lifecycle, runtime, ...judged });
}

function judge(
  lifecycle: CanonicalLifecycle,
  observation: RuntimeObservation,
  { nowMs, digest }: ObservationContext,
): Pick<CanonicalLifecycle, "session" | "detecting"> {
  const recentlyActive = isRecentlyActive(lifecycle.activity, nowMs);
  // A requested kill ends the session in the same write, so no look meets one that is still open.
  const { state, reason } = decideProbe({ ...observation, killRequested: false, recentlyActive });
  switch (state) {
    case "working":
      return { session: healthySession(lifecycle), detecting: null };
    case "terminated":
      return { session: { state, reason }, detecting: null };
    case "detecting": {
      const evidenceHash = digest(normalizeEvidence(evidenceOf(observation)));
      const doubt = decideDetecting({ memory: lifecycle.detecting, evidenceHash, nowMs, reason });
      return { session: doubt.session, detecting: doubt.memory };
    }
    default:
      return assertNever(state);
  }
}

function healthySession({ session, activity }: CanonicalLifecycle): SessionSubstate {
  if (!isSetByLiveness(session)) return session;
  const heard = activity.state === null ? null : sessionForActivity(activity.state);
  return heard ?? { state: "working", reason: "task_in_progress" };
}

function runtimeSubstate(stored: RuntimeSubstate, { runtime, process }: RuntimeObservation): RuntimeSubstate {
  switch (runtime.kind) {
    case "alive":
      return { state: "alive", reason: process.kind === "dead" ? "process_missing" : "process_running" };
    case "exited":
      // Found as it was left: the stored reason, a requested kill for one, says more than this look.
      return stored.state === "exited" ? stored : { state: "exited", reason: "process_missing" };
    case "missing":
      return { state: "missing", reason: "tmux_missing" };
    case "unknown":
      return { state: "unknown", reason: "probe_error" };
    case "probe_failed":
      return { state: "probe_failed", reason: "probe_error" };
    default:
      return assertNever(runtime);
  }
}

/** What was seen, in words, without the times that differ from look to look. */
function evidenceOf({ runtime, process }: RuntimeObservation): string {
  return `runtime ${runtimeEvidence(runtime)}; process ${processEvidence(process)}`;
}

function runtimeEvidence(runtime: RuntimeFact): string {
  switch (runtime.kind) {
    case "exited":
      return `exited, status ${runtime.exitStatus ?? "none"}, signal ${runtime.signal ?? "none"}`;
    case "probe_failed":
      return `probe_failed: ${runtime.cause}`;
    case "alive":
    case "missing":
    case "unknown":
      return runtime.kind;
    default:
      return assertNever(runtime);
  }
}

function processEvidence(process: ProcessFact): string {
  return process.kind === "probe_failed" ? `probe_failed: ${process.cause}` : process.kind;
}
