import type { TranscriptHead } from "./chain.ts";
import type { TranscriptBase } from "./ledger.ts";

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
  /** The transcript that is wanted; its digest is `undefined` when nothing is known of the writer's base. */
  readonly next: { readonly count: number; readonly digest: string | undefined };
}

/** Only who knows all that is on disk may replace it. */
export function decideRewrite({ head, base, next }: RewriteFacts): "unchanged" | "rewrite" | "contested" {
  if (next.digest === head.digest && next.count === head.count) return "unchanged";
  return base?.digest === head.digest && base.count === head.count ? "rewrite" : "contested";
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
export function decideConflict(next: string | undefined, onDisk: string | undefined): ConflictKind {
  return next !== undefined && next === onDisk ? "stale_prefix" : "diverged";
}
