import { sessionForActivity } from "./activity.ts";
import { assertNever } from "./assert-never.ts";
import { isoTime } from "./iso-time.ts";
import {
  type ActivitySource,
  type ActivityState,
  type CanonicalLifecycle,
  isTerminal,
  type RuntimeReason,
  type RuntimeState,
  type SessionReason,
  type SessionState,
} from "./lifecycle.ts";
import { isSetByLiveness } from "./liveness.ts";

/** How long a launch may say nothing before that is told of it, in milliseconds, that moment included. */
const SILENCE_MS = 90_000;

/** Where a fact is from: what the agent said, a look at the runtime, a command, or a pull request. */
type FactSource = ActivitySource | "request" | "pull_request";

/** How much a source of activity is worth: the agent's own word, what its terminal shows, or none. */
type Confidence = "high" | "low" | "none";

/** What is known of a session, each fact with where it is from. Keys are a contract, times ISO 8601 UTC. */
export interface FactsJson {
  readonly session: { readonly state: SessionState; readonly source: FactSource };
  readonly runtime: { readonly state: RuntimeState; readonly source: FactSource };
  readonly activity: {
    readonly state: ActivityState | null;
    readonly source: ActivitySource;
    readonly confidence: Confidence;
    readonly at: string | null;
  };
  /** Since when its agent, which may well run, has said nothing at all; `null` when it did, or has time yet. */
  readonly silentSince: string | null;
}

/** When the facts are looked at, and when the launch that they are of began. Unix milliseconds. */
interface Moment {
  readonly nowMs: number;
  readonly launchedAtMs: number;
}

/** The facts of a lifecycle with their sources. Pure and total. */
export function factSources(lifecycle: CanonicalLifecycle, moment: Moment): FactsJson {
  const { session, runtime, activity } = lifecycle;
  return {
    session: { state: session.state, source: sessionSource(lifecycle) },
    runtime: { state: runtime.state, source: runtimeSource(runtime.reason) },
    activity: {
      state: activity.state,
      source: activity.source,
      confidence: confidenceOf(activity.source),
      at: isoTime(activity.lastActivityAtMs),
    },
    silentSince: isSilent(lifecycle, moment) ? isoTime(moment.launchedAtMs) : null,
  };
}

function isSilent(lifecycle: CanonicalLifecycle, { nowMs, launchedAtMs }: Moment): boolean {
  const wasHeard = lifecycle.activity.state !== null;
  return !(wasHeard || isTerminal(lifecycle)) && nowMs - launchedAtMs >= SILENCE_MS;
}

const BY_REQUEST: readonly (SessionReason | null)[] = [
  "spawn_requested",
  "manually_killed",
  "auto_cleanup",
  "error_in_process",
];
const BY_PULL_REQUEST: readonly (SessionReason | null)[] = ["pr_merged", "merged_waiting_decision"];

function sessionSource(lifecycle: CanonicalLifecycle): FactSource {
  const { session, activity, pr } = lifecycle;
  if (BY_REQUEST.includes(session.reason)) return "request";
  if (BY_PULL_REQUEST.includes(session.reason)) return "pull_request";
  if (isSetByLiveness(session)) return "runtime";
  if (isFromActivity(lifecycle)) return activity.source;
  if (pr.state === "merged" || pr.state === "closed" || session.state === "stuck") return "pull_request";
  return session.state === "working" ? "runtime" : activity.source;
}

/** What is not was put there by something else; an exit says nothing of the session, so what was said before stands. */
function isFromActivity({ session, activity }: CanonicalLifecycle): boolean {
  const told = activity.state === null ? null : sessionForActivity(activity.state);
  return told?.state === session.state && told.reason === session.reason;
}

function runtimeSource(reason: RuntimeReason): FactSource {
  switch (reason) {
    case "spawn_incomplete":
    case "manual_kill_requested":
    case "auto_cleanup":
    case "pr_merged_cleanup":
      return "request";
    case "process_running":
    case "process_missing":
    case "tmux_missing":
    case "probe_error":
      return "runtime";
    default:
      return assertNever(reason);
  }
}

function confidenceOf(source: ActivitySource): Confidence {
  switch (source) {
    case "hook":
    case "native":
      return "high";
    case "terminal":
    case "runtime":
      return "low";
    case "none":
      return "none";
    default:
      return assertNever(source);
  }
}
