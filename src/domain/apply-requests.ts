import { keepSame } from "./keep-same.ts";
import { type CanonicalLifecycle, isTerminal, type RuntimeReason, type SessionReason } from "./lifecycle.ts";

/** Why a kill was asked for. */
export const KILL_REASONS = ["manual", "cleanup", "error"] as const;
export type KillReason = (typeof KILL_REASONS)[number];

const AFTER_KILL: Readonly<
  Record<KillReason, { readonly session: SessionReason; readonly runtime: RuntimeReason }>
> = {
  manual: { session: "manually_killed", runtime: "manual_kill_requested" },
  cleanup: { session: "auto_cleanup", runtime: "auto_cleanup" },
  error: { session: "error_in_process", runtime: "probe_error" },
};

/** The runtime is up. The session stays as it is, status spawning, until its agent is first heard from. */
export function completeSpawn(lifecycle: CanonicalLifecycle): CanonicalLifecycle {
  return keepSame(lifecycle, { ...lifecycle, runtime: { state: "alive", reason: "process_running" } });
}

/** Ends a session. One that is over keeps how it ended: the same reference comes back. */
export function requestKill(lifecycle: CanonicalLifecycle, reason: KillReason): CanonicalLifecycle {
  if (isTerminal(lifecycle)) return lifecycle;
  const after = AFTER_KILL[reason];
  return {
    ...lifecycle,
    session: { state: "terminated", reason: after.session },
    runtime: { state: "exited", reason: after.runtime },
    detecting: null,
  };
}

/**
 * Begins a terminal session anew; one that is not over comes back as it is, the same reference.
 *
 * What the last launch was doing is forgotten, so that its wait for a person does not outlive it; when it
 * was last heard from is kept.
 */
export function reopenForRestore(lifecycle: CanonicalLifecycle): CanonicalLifecycle {
  if (!isTerminal(lifecycle)) return lifecycle;
  return {
    ...lifecycle,
    session: { state: "not_started", reason: "spawn_requested" },
    pr: { state: "none", reason: "cleared_on_restore", number: null, url: null },
    runtime: { state: "unknown", reason: "spawn_incomplete" },
    activity: { ...lifecycle.activity, state: null, source: "none" },
    detecting: null,
  };
}
