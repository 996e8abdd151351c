import type { TranscriptRefusal } from "../domain/transcript/budgets.ts";
import type { MessageRange, TranscriptHead } from "../domain/transcript/chain.ts";
import type { ConflictKind } from "../domain/transcript/decide-save.ts";
import type { InFlightTurn, InFlightVerdict } from "../domain/transcript/in-flight-turn.ts";
import type { TranscriptBase, TranscriptPrefix } from "../domain/transcript/ledger.ts";
import type { TranscriptMessage } from "../domain/transcript/message.ts";
import type { TranscriptRef } from "../domain/transcript/names.ts";

/** Bytes of a log that say nothing. */
export interface LogDamage {
  /**
   * `unreadable`: no record. `unlinked`: a record that does not continue the ones before. `foreign`: a record of
   * another transcript. `torn_tail`: the end.
   */
  readonly kind: "unreadable" | "unlinked" | "foreign" | "torn_tail";
  readonly offset: number;
  readonly bytes: number;
}

/** A save or a load that was not done, with why. */
export interface Refused {
  readonly kind: "refused";
  readonly refusal: TranscriptRefusal;
}

/** Nothing is there. `wasCommitted`: a save is on record, so that somebody else removed it. */
export interface Missing {
  readonly kind: "missing";
  readonly wasCommitted: boolean;
}

export interface LoadedTranscript {
  readonly kind: "loaded";
  /** `checkpoint` only when there is no log of this transcript, or one that lost what the ledger proves of it. */
  readonly from: "log" | "checkpoint";
  readonly head: TranscriptHead;
  /** Those that can be read, in order. */
  readonly messages: readonly TranscriptMessage[];
  /** Messages that are proven to have been there and cannot be read; ascending. */
  readonly gaps: readonly MessageRange[];
  readonly damage: readonly LogDamage[];
  /** Messages behind the end that the ledger has on record and no file holds. */
  readonly lost: number;
}

export type LoadResult = LoadedTranscript | Missing | Refused;

/** A message with its index in the transcript, from 0. */
export interface NumberedMessage {
  readonly index: number;
  readonly message: TranscriptMessage;
}

/** A transcript that is open for reading, its messages one record at a time. */
export interface TranscriptReader extends Omit<LoadedTranscript, "kind" | "messages"> {
  /** When the last record was written, Unix milliseconds; `null` when that is not known. */
  readonly savedAtMs: number | null;
  /** Those that can be read, from an index on, in order. */
  messages(first: number): AsyncIterable<NumberedMessage>;
}

/** The last messages of a transcript. */
export interface TranscriptEnd {
  readonly kind: "end";
  readonly head: TranscriptHead;
  readonly messages: readonly TranscriptMessage[];
  /** They are all there are, and none is missing. */
  readonly isWhole: boolean;
}

/** A file beside the log that could not be brought up to date. The next save tries again. */
export interface SidecarWarning {
  readonly file: "checkpoint" | "ledger" | "index";
  readonly cause: string;
}

/** What a save adds to the end. */
export interface TranscriptAppend {
  /** What the writer last read or saved; `null` when it never did. */
  readonly base: TranscriptBase | null;
  /** What it has beyond that. */
  readonly messages: readonly TranscriptMessage[];
}

/** What a save puts in the place of all behind the first messages of the base. */
export interface TranscriptRewrite extends TranscriptAppend {
  /** Those messages of the base that stay. */
  readonly keep: TranscriptPrefix;
  /** One word for the log. */
  readonly reason: string;
}

/** It is durable, and `head` is the base of the next save. */
export interface Saved {
  readonly kind: "saved";
  readonly head: TranscriptHead;
  /** Bytes of a damaged end that were cut off the log, after they were kept in the salvage. */
  readonly salvagedBytes: number;
  readonly warnings: readonly SidecarWarning[];
}

/** The same was there already, durably; `head` is the base of the next save. */
export interface Unchanged {
  readonly kind: "unchanged";
  readonly head: TranscriptHead;
  readonly warnings: readonly SidecarWarning[];
}

/** Another writer was there first: the transcript is as it was. */
export interface Conflict {
  readonly kind: "conflict";
  readonly conflict: ConflictKind;
  /** What is on disk. */
  readonly head: TranscriptHead;
  /** Where what the writer has is kept; `null` for a `stale_prefix`, which the disk holds already. */
  readonly copy: TranscriptRef | null;
}

/** Somebody removed the transcript; it is not made again. */
export interface ExternallyRemoved {
  readonly kind: "externally_removed";
}

export type SaveResult = Saved | Unchanged | Conflict | ExternallyRemoved | Refused;

/** A marker, and what it stands on. */
export interface BegunTurn {
  readonly kind: "begun";
  readonly turn: InFlightTurn;
  readonly head: TranscriptHead;
}

/** What a transcript is to be: messages behind others that stay; behind nothing for `null`. */
export interface FinalTranscript {
  readonly after: TranscriptPrefix | null;
  readonly messages: readonly TranscriptMessage[];
}

export interface ResumedTurn {
  readonly kind: "resumed";
  /** What was found; `null` when no turn was in flight. */
  readonly verdict: InFlightVerdict | null;
  readonly head: TranscriptHead;
  readonly salvagedBytes: number;
}

export type Health =
  | "healthy"
  | "stale"
  | "damaged"
  | "missing"
  | "removed"
  | "newer"
  | "foreign"
  | "over_budget";

/** What a transcript is, at a glance. */
export interface TranscriptSummary {
  readonly kind: "summary";
  readonly head: TranscriptHead;
  /** When the last record was written, Unix milliseconds; `null` when that is not known. */
  readonly savedAtMs: number | null;
  /** As the index has it, or the log that was read for want of one. `verify` looks at everything. */
  readonly health: Extract<Health, "healthy" | "stale" | "damaged">;
}

/** What `verify` found. */
export interface TranscriptReport {
  readonly ref: TranscriptRef;
  /** `stale`: only files beside the log lag behind; the next save sets that right. */
  readonly health: Health;
  readonly log: {
    readonly bytes: number;
    readonly records: number;
    readonly damage: readonly LogDamage[];
    readonly gaps: readonly MessageRange[];
  };
  readonly head: TranscriptHead;
  /** When the last record was written, Unix milliseconds; `null` without one. */
  readonly savedAtMs: number | null;
  /**
   * `ahead`: it holds, as the ledger proves, what the log lost. `foreign`: nothing proves it, and the ledger says
   * that it is not of this transcript.
   */
  readonly checkpoint: "current" | "ahead" | "behind" | "missing" | "damaged" | "foreign";
  /** `ahead`: it knows of a save that the log does not hold. */
  readonly ledger: "current" | "behind" | "ahead" | "missing" | "unreadable" | "newer" | "foreign";
  /** Messages that the ledger has on record and no file holds. */
  readonly lost: number;
  readonly index: "current" | "missing";
  readonly inFlight: InFlightTurn | null;
  readonly salvageBytes: number;
  /** Names of the copies of conflicting continuations. */
  readonly copies: readonly string[];
}

export interface Repaired {
  readonly kind: "repaired";
  readonly head: TranscriptHead;
  /** Bytes that went to the salvage. */
  readonly salvagedBytes: number;
  /** Messages whose place a note of `ao` has taken. */
  readonly lostMessages: number;
  readonly warnings: readonly SidecarWarning[];
}

/** `forgotten`: the ledger of a transcript that somebody removed was removed too, so that it may be made again. */
export type RepairResult = Repaired | Unchanged | { readonly kind: "forgotten" } | Missing | Refused;

/** Where pruned transcripts go, and where that is written down. Both are absolute paths. */
export interface Trash {
  readonly folder: string;
  /** A file that gets a line, durably, before anything is moved or deleted. */
  readonly audit: string;
}

/** What was moved into the trash. */
export interface PrunedTranscript {
  /** Names of the files before. */
  readonly files: readonly string[];
  readonly bytes: number;
}
