import type { TranscriptHead } from "./chain.ts";
import type { TranscriptBase, TranscriptPrefix } from "./ledger.ts";

/** What a writer wants to append. */
export interface AppendFacts {
  /** The transcript on disk. */
  readonly head: TranscriptHead;
  /** What the writer last read or saved; `null` when it never did. */
  readonly base: TranscriptBase | null;
  /** Of the writer's transcript: after its base, and after each of its messages. */
  readonly digests: readonly string[];
}

/**
 * `append`: all but the first `from` of the writer's messages are new. `contested`: the disk holds something
 * that the writer does not know of.
 */
export type AppendVerdict =
  | { readonly kind: "unchanged" | "contested" }
  | { readonly kind: "append"; readonly from: number };

/**
 * Whether what a writer has continues what is on disk. Content decides, by digest; revisions do not.
 *
 * A disk that ends before the writer's base was rewound by another, and what that removed must not return.
 * A writer without a base cannot tell, so it may only extend what was never rewound.
 */
export function decideAppend({ head, base, digests }: AppendFacts): AppendVerdict {
  const from = head.count - (base?.count ?? 0);
  if (from < 0 || digests[from] !== head.digest) return { kind: "contested" };
  if (from === digests.length - 1) return { kind: "unchanged" };
  const mayExtend = base !== null || head.rewrites <= 1;
  return mayExtend ? { kind: "append", from } : { kind: "contested" };
}

/** What a writer wants the transcript to be instead. */
export interface RewriteFacts {
  readonly head: TranscriptHead;
  readonly base: TranscriptBase | null;
  readonly next: TranscriptPrefix;
}

/** Only who knows all that is on disk may replace it. */
export function decideRewrite({ head, base, next }: RewriteFacts): "unchanged" | "rewrite" | "contested" {
  if (isSamePrefix(next, head)) return "unchanged";
  return base !== null && isSamePrefix(base, head) ? "rewrite" : "contested";
}

/** Whether two hold the same messages. */
function isSamePrefix(one: TranscriptPrefix, other: TranscriptPrefix): boolean {
  return one.count === other.count && one.digest === other.digest;
}

/**
 * How a contested save differs from the disk. `stale_prefix`: the disk holds all of it, and more; its writer
 * goes on from there. `diverged`: it holds something that the disk does not.
 */
export type ConflictKind = "stale_prefix" | "diverged";

/**
 * @param next digest of the writer's transcript.
 * @param onDisk digest of as many messages on disk; `undefined` when there are fewer.
 */
export function decideConflict(next: string, onDisk: string | undefined): ConflictKind {
  return next === onDisk ? "stale_prefix" : "diverged";
}
