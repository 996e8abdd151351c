import { isSticky, sessionForActivity } from "./activity.ts";
import type { ActivitySignal } from "./facts.ts";
import type { LaunchId } from "./ids.ts";
import { isTimeMs } from "./iso-time.ts";
import { keepSame } from "./keep-same.ts";
import { type ActivityState, type CanonicalLifecycle, isTerminal } from "./lifecycle.ts";
import { isSetByLiveness } from "./liveness.ts";

/**
 * Folds what was heard of an agent into a lifecycle. Pure and total; `revision` is the caller's.
 *
 * Only a valid signal of the current launch counts, and none that is older than the last or says the same
 * of the same moment. A last one that lies ahead of now is none to compare with: the clock was set back. It may
 * lift a session out of `detecting`, never out of a terminal state nor out of a `stuck` that doubt about its
 * life had set; there only the memory of activity is written. Returns `lifecycle` itself, the same reference,
 * when nothing changed.
 */
export function applyActivitySignal(
  lifecycle: CanonicalLifecycle,
  signal: ActivitySignal,
  { launchId, nowMs }: { readonly launchId: LaunchId; readonly nowMs: number },
): CanonicalLifecycle {
  const isOurs = signal.confidence === "valid" && signal.launchId === launchId;
  if (!isOurs || isTerminal(lifecycle) || !isNews(lifecycle, signal, nowMs)) return lifecycle;
  return keepSame(lifecycle, {
    ...lifecycle,
    activity: {
      ...{ state: signal.state, lastActivityAtMs: signal.atMs, source: signal.source },
      ...(signal.asks !== undefined && { asks: signal.asks }),
    },
    ...sessionAfter(lifecycle, signal.state),
  });
}

function isNews(
  { activity }: CanonicalLifecycle,
  { state, source, atMs }: ActivitySignal,
  nowMs: number,
): boolean {
  const lastMs = activity.lastActivityAtMs;
  const isOlder = lastMs !== null && lastMs <= nowMs && atMs < lastMs;
  // Heard again it says nothing of now, least of all that an agent in doubt lives.
  const isRemembered = atMs === lastMs && state === activity.state;
  // A quiet terminal is time alone, and time alone never ends a wait for a person.
  const isMereSilence = state === "idle" && source === "runtime" && isSticky(activity.state);
  return isTimeMs(atMs) && !isOlder && !isRemembered && !isMereSilence;
}

function sessionAfter(
  lifecycle: CanonicalLifecycle,
  state: ActivityState,
): Partial<Pick<CanonicalLifecycle, "session" | "detecting">> {
  const session = sessionForActivity(state);
  const isLost = lifecycle.session.state === "stuck" && isSetByLiveness(lifecycle.session);
  return session === null || isLost ? {} : { session, detecting: null };
}
