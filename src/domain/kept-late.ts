import type { Turn } from "./turn.ts";

/** A look each minute, as a cron job has it, is in time. */
const IN_TIME_MS = 90_000;

/**
 * What to say of the files at the end of a turn that nobody looked at until long after it: what a person changed by
 * then is among them. `null` when they were kept in time, or nobody knows when. Pure.
 */
export function keptLate(turn: Turn): string | null {
  const { state, checkpoints, turnId } = turn;
  const takenAtMs = checkpoints.end?.takenAtMs;
  if (state.kind !== "settled" || takenAtMs === undefined) return null;
  const lateMs = takenAtMs - state.atMs;
  if (lateMs <= IN_TIME_MS) return null;
  const minutes = Math.round(lateMs / 60_000);
  const late = minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
  return `the files of turn ${turnId} were first looked at ${late} after its end, and kept as they were then`;
}
