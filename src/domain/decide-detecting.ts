import type { DetectingMemory, SessionReason, SessionSubstate } from "./lifecycle.ts";

/** Looks in a row with the same evidence after which doubt becomes `stuck`, that look included. */
const MAX_ATTEMPTS = 3;
/** Age of an episode of doubt at which it becomes `stuck`, that moment included. */
const MAX_AGE_MS = 5 * 60_000;

const ISO_TIME = /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?/gi;
/** Unix seconds or milliseconds between 2001 and 2286, a fraction included. */
const EPOCH_TIME = /(?<![\w.])[1-9]\d{9}(?:\d{3})?(?:\.\d+)?(?!\w)/g;

export interface DetectingInput {
  /** The memory of this episode; `null` when doubt begins with this look. */
  readonly memory: DetectingMemory | null;
  /** Digest of the normalised evidence of this look. */
  readonly evidenceHash: string;
  readonly nowMs: number;
  /** Why the look left doubt. */
  readonly reason: SessionReason;
}

/** Evidence without what differs from look to look: times stripped, whitespace folded. */
export function normalizeEvidence(text: string): string {
  return text.replace(ISO_TIME, " ").replace(EPOCH_TIME, " ").replace(/\s+/g, " ").trim();
}

/**
 * Folds one doubtful look into the memory of its episode. Pure and total.
 *
 * Attempts grow while the evidence stays the same and restart at 1 when it moves; `startedAtMs` stays for
 * the whole episode, but that one which lies ahead began now: the clock was set back. Attempts stop growing at
 * the limit, so that further equal looks change nothing.
 */
export function decideDetecting(input: DetectingInput): {
  readonly memory: DetectingMemory;
  readonly session: SessionSubstate;
} {
  const { memory, evidenceHash, nowMs, reason } = input;
  const startedAtMs = Math.min(memory?.startedAtMs ?? nowMs, nowMs);
  const attempts = memory?.evidenceHash === evidenceHash ? Math.min(memory.attempts + 1, MAX_ATTEMPTS) : 1;
  const isStuck = attempts >= MAX_ATTEMPTS || nowMs - startedAtMs >= MAX_AGE_MS;
  return {
    memory: { attempts, startedAtMs, evidenceHash },
    session: { state: isStuck ? "stuck" : "detecting", reason },
  };
}
