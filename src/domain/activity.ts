import { assertNever } from "./assert-never.ts";
import type { ActivitySignal } from "./facts.ts";
import type { LaunchId } from "./ids.ts";
import type { ActivityMemory, ActivityState, SessionSubstate } from "./lifecycle.ts";

/** How long after it was heard from an agent still counts as active, that moment included. */
const RECENT_MS = 60_000;

/** Whether an agent rests until a person acts; time alone never changes such a state. */
export function isSticky(state: ActivityState | null): boolean {
  return state === "waiting_input" || state === "blocked";
}

/**
 * Heard from within 60 s, or waiting for a person however long; never after it said that it exited. A time
 * further ahead than that is from before the clock was set back, and says nothing of now.
 */
export function isRecentlyActive(activity: ActivityMemory, nowMs: number): boolean {
  if (activity.state === null || activity.state === "exited") return false;
  if (isSticky(activity.state)) return true;
  return activity.lastActivityAtMs !== null && isRecent(activity.lastActivityAtMs, nowMs);
}

function isRecent(atMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) <= RECENT_MS;
}

/** What a session is when its agent does this; `null` for an exit, as only a probe concludes death. */
export function sessionForActivity(state: ActivityState): SessionSubstate | null {
  switch (state) {
    case "active":
      return { state: "working", reason: "task_in_progress" };
    case "ready":
      return { state: "idle", reason: "research_complete" };
    case "idle":
      return { state: "idle", reason: null };
    case "waiting_input":
      return { state: "needs_input", reason: "awaiting_user_input" };
    case "blocked":
      return { state: "stuck", reason: "awaiting_user_input" };
    case "exited":
      return null;
    default:
      return assertNever(state);
  }
}

/**
 * What an agent without hooks does, as its terminal shows: output within the last 60 s is `active`, else
 * `idle`. The signal carries the time of the output, not of the look, so a quiet terminal gives the same
 * signal again; one that lies further ahead is from before the clock was set back. A terminal that tells no
 * time gives one of confidence `null`, which changes nothing.
 */
export function activityFromOutput(
  lastOutputAtMs: number | null,
  nowMs: number,
  launchId: LaunchId,
): ActivitySignal {
  if (lastOutputAtMs === null) {
    return { state: "idle", confidence: "null", source: "runtime", atMs: nowMs, launchId };
  }
  const state = isRecent(lastOutputAtMs, nowMs) ? "active" : "idle";
  return { state, confidence: "valid", source: "runtime", atMs: lastOutputAtMs, launchId };
}
