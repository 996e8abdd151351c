import type { Turn } from "./turn.ts";

/** So soon after its end nobody has changed anything yet. */
const IN_TIME_MS = 2_000;

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
  return `the files of turn ${turnId} were first looked at ${inWords(lateMs)} after its end, and kept as they were then`;
}

function inWords(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} seconds`;
  const minutes = Math.round(ms / 60_000);
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}
