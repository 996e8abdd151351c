import type { LeasedState, Operation, PreparedState } from "./operation.ts";

/** How long a claim holds without a sign of its owner. */
export const LEASE_MS = 30_000;

const LONGEST_BACKOFF_MS = 256_000;

/** How long to wait after attempt `attempt` (from 1): 1 s, then twice as long each time, 256 s at most. */
export function backoffMs(attempt: number): number {
  return Math.min(1_000 * 2 ** Math.max(0, attempt - 1), LONGEST_BACKOFF_MS);
}

/**
 * Whether its time has come. No wait is longer than the longest backoff, so one that seems to be shows a
 * clock that was set back, and is over.
 */
export function isDue({ nextAttemptAtMs }: PreparedState, nowMs: number): boolean {
  return nextAttemptAtMs <= nowMs || nextAttemptAtMs > nowMs + LONGEST_BACKOFF_MS;
}

/**
 * Whether the time has come for a new one of a kind that is begun again and again, by those before it, the newest
 * first: as many as failed in a row since, so long the wait.
 */
export function isDueAnew(before: readonly Operation[], nowMs: number): boolean {
  const succeeded = before.findIndex(({ state }) => state.kind !== "failed");
  const failures = succeeded < 0 ? before.length : succeeded;
  const [last] = before;
  if (failures === 0 || last === undefined) return true;
  return isDue({ kind: "prepared", nextAttemptAtMs: last.updatedAtMs + backoffMs(failures) }, nowMs);
}

/** Whether its owner was silent for too long. */
export function isExpired({ expiresAtMs }: LeasedState, nowMs: number): boolean {
  return expiresAtMs <= nowMs;
}

/** Whether it seems to hold for longer than any lease does, as after a clock was set back. */
export function isTooLong({ expiresAtMs }: LeasedState, nowMs: number): boolean {
  return expiresAtMs > nowMs + LEASE_MS;
}
