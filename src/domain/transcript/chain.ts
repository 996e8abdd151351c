import { assertNever } from "../assert-never.ts";
import { EMPTY_DIGEST } from "./digest.ts";
import type { RecordHead } from "./record.ts";

/** Names the content of a transcript; two of the same digest and count hold the same messages. */
export interface TranscriptHead {
  /** Messages, those that cannot be read included. */
  readonly count: number;
  readonly digest: string;
  /** Of the last record; 0 before the first. */
  readonly revision: number;
  /** How often it was replaced, wholly or from some message on; the first save counts. */
  readonly rewrites: number;
}

export const EMPTY_HEAD: TranscriptHead = { count: 0, digest: EMPTY_DIGEST, revision: 0, rewrites: 0 };

/** Consecutive messages of a transcript. */
export interface MessageRange {
  /** Index of the first one, from 0. */
  readonly first: number;
  readonly count: number;
}

/** The first `count` messages of one record, and where that record is. */
export interface Span<Place> extends MessageRange {
  readonly place: Place;
}

/** A transcript that is put together from the records of its log, in their order. */
export interface TranscriptChain<Place> {
  /**
   * Takes a record whose own digests were found right. False when it does not belong to what came before:
   * then nothing has changed.
   *
   * @param digests after 0, 1, … and all of its messages.
   */
  offer(record: RecordHead, digests: readonly string[], place: Place): boolean;
  head(): TranscriptHead;
  /** The digest of the first `count` messages; `undefined` beyond the end, and where it is not proven. */
  digestAt(count: number): string | undefined;
  /** Where the messages are, ascending. */
  spans(): readonly Span<Place>[];
  /** Messages that later records prove to have been there, but that cannot be read; ascending. */
  gaps(): readonly MessageRange[];
}

/**
 * How a record stands to the transcript before it. After lost records (`revision` numbers tell):
 * `after_gap` when only appends were lost, so that what was there still stands; `displaces` when it may have
 * been cut meanwhile, so that nothing before this record's own messages is known any more.
 */
type Link = "continues" | "after_gap" | "displaces" | "stranger";

function decideLink(record: RecordHead, head: TranscriptHead, known: string | undefined): Link {
  if (record.baseRevision < head.revision) return "stranger";
  if (record.baseRevision === head.revision) return mayFollow(record, head, known) ? "continues" : "stranger";
  if (known === record.baseDigest) return "continues";
  const earlierRewrites = record.rewrites - (record.type === "replace" ? 1 : 0);
  const lostOnlyAppends = earlierRewrites === head.rewrites && record.messageIndex > head.count;
  return lostOnlyAppends ? "after_gap" : "displaces";
}

/** Whether a record can be the next one, when none was lost. */
function mayFollow(record: RecordHead, head: TranscriptHead, known: string | undefined): boolean {
  const mayStand = record.type === "replace" || record.messageIndex === head.count;
  // What was unreadable before may be unreadable still; it says nothing against the record.
  const isInGap = known === undefined && record.messageIndex < head.count;
  return mayStand && (isInGap || known === record.baseDigest);
}

function cutRanges<Range extends MessageRange>(ranges: readonly Range[], count: number): Range[] {
  const kept = ranges.filter(({ first }) => first < count);
  const last = kept.at(-1);
  if (last === undefined || last.first + last.count <= count) return kept;
  return [...kept.slice(0, -1), { ...last, count: count - last.first }];
}

/** A chain before its first record. */
export function transcriptChain<Place>(): TranscriptChain<Place> {
  let head = EMPTY_HEAD;
  const digests: (string | undefined)[] = [EMPTY_DIGEST];
  let spans: Span<Place>[] = [];
  let gaps: MessageRange[] = [];

  /** Keeps the first messages, as far as they are known, and the rest of `keep` as a gap. */
  function keepFirst(known: number, keep: number): void {
    if (known < head.count) {
      spans = cutRanges(spans, known);
      gaps = cutRanges(gaps, known);
    }
    if (known < keep) gaps.push({ first: known, count: keep - known });
    digests.length = Math.min(digests.length, known + 1);
    digests.length = keep + 1;
  }

  function add(record: RecordHead, after: readonly string[], place: Place): void {
    const { messageIndex, revision, rewrites, digest, baseDigest } = record;
    const count = after.length - 1;
    digests[messageIndex] = baseDigest;
    for (const one of after.slice(1)) digests.push(one);
    if (count > 0) spans.push({ first: messageIndex, count, place });
    head = { count: messageIndex + count, digest, revision, rewrites };
  }

  return {
    offer(record, after, place) {
      const { messageIndex } = record;
      const link = decideLink(record, head, digests[messageIndex]);
      switch (link) {
        case "stranger":
          return false;
        case "continues":
          keepFirst(messageIndex, messageIndex);
          break;
        case "after_gap":
          keepFirst(head.count, messageIndex);
          break;
        case "displaces":
          keepFirst(0, messageIndex);
          break;
        default:
          assertNever(link);
      }
      add(record, after, place);
      return true;
    },
    head: () => head,
    digestAt: (count) => digests[count],
    spans: () => spans,
    gaps: () => gaps,
  };
}
