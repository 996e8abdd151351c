import type { TranscriptBase, TranscriptPrefix } from "./ledger.ts";

/** What a checkpoint holds. */
export interface CheckpointContent extends TranscriptPrefix {
  /** Whether there is something behind its last good line. */
  readonly isDamaged: boolean;
  /** Digest of as many of its messages as the ledger has on record; `undefined` when it has fewer. */
  readonly digestAtCommitted: string | undefined;
}

/** What is known of a transcript beside the messages of its log. */
export interface SourceFacts {
  /** The end of the log, as far as its records prove it; `null` when it has none. */
  readonly head: TranscriptBase | null;
  /** What the ledger has on record; `null` when it has nothing, `foreign` when it is another's. */
  readonly committed: TranscriptBase | null | "foreign";
  /** `null` when there is no checkpoint, or nothing in it. */
  readonly held: CheckpointContent | null;
}

/**
 * Where the messages of a transcript are. `lost`: how many the ledger has on record that neither file holds.
 * `foreign`: there is a checkpoint alone, and it is not of this transcript.
 */
export type Source =
  | { readonly kind: "log" | "checkpoint" | "nothing"; readonly lost: number }
  | { readonly kind: "foreign" };

/**
 * The log decides, unless it lost what the ledger has on record and the checkpoint is proven to hold: the ledger is
 * written last, so that a log that ends before it was cut. Pure.
 */
export function decideSource({ head, committed, held }: SourceFacts): Source {
  if (head === null) return decideWithoutLog(committed, held);
  if (committed === null || committed === "foreign" || !isCut(head, committed))
    return { kind: "log", lost: 0 };
  if (isProven(held, committed)) return { kind: "checkpoint", lost: 0 };
  return { kind: "log", lost: Math.max(0, committed.count - head.count) };
}

/** Whether a log ends before what the ledger has on record. */
export function isCut(head: TranscriptBase, committed: TranscriptBase): boolean {
  return committed.revision > head.revision && committed.digest !== head.digest;
}

function isProven(held: CheckpointContent | null, committed: TranscriptBase): boolean {
  return held !== null && held.digestAtCommitted === committed.digest;
}

function decideWithoutLog(committed: SourceFacts["committed"], held: CheckpointContent | null): Source {
  const known = committed === null || committed === "foreign" ? 0 : committed.count;
  if (held === null) return { kind: "nothing", lost: known };
  if (committed === "foreign") return { kind: "foreign" };
  if (committed === null || isProven(held, committed)) return { kind: "checkpoint", lost: 0 };
  // One that has fewer may have lagged behind; one that has as many others never was this transcript's.
  return held.count < known ? { kind: "checkpoint", lost: known - held.count } : { kind: "foreign" };
}
