/** How much a reader takes. More is refused, and is no damage. */
export interface TranscriptBudgets {
  /** Of a whole log, in bytes. */
  readonly maxBytes: number;
  /** Of one record, in bytes. */
  readonly maxRecordBytes: number;
  readonly maxRecords: number;
  readonly maxMessages: number;
}

/** For a transcript that is held in memory as a whole. */
export const LOAD_BUDGETS: TranscriptBudgets = {
  maxBytes: 128 * 1024 * 1024,
  maxRecordBytes: 32 * 1024 * 1024,
  maxRecords: 100_000,
  maxMessages: 100_000,
};

/** For one that is read record by record. A log of any length can be added to, shown and verified. */
export const STREAM_BUDGETS: TranscriptBudgets = {
  ...LOAD_BUDGETS,
  maxBytes: Number.POSITIVE_INFINITY,
  maxRecords: Number.POSITIVE_INFINITY,
  maxMessages: Number.POSITIVE_INFINITY,
};

/**
 * Why a transcript is left as it is.
 * - `newer`: a newer `ao` wrote it.
 * - `foreign`: the file where its log, or its checkpoint, belongs is none of this transcript.
 * - `damaged`: messages are missing that what was asked would have to copy.
 * - `over_budget`: it has more than `limit` of what `budget` names.
 */
export type TranscriptRefusal =
  | { readonly reason: "newer" | "foreign" | "damaged"; readonly path: string }
  | {
      readonly reason: "over_budget";
      readonly path: string;
      readonly budget: keyof TranscriptBudgets;
      readonly limit: number;
    };
