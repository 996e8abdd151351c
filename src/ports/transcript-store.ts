import type { TranscriptBudgets } from "../domain/transcript/budgets.ts";
import type { InFlightTurn, TurnKeeps } from "../domain/transcript/in-flight-turn.ts";
import type { TranscriptRef } from "../domain/transcript/names.ts";
import type { Fence } from "./fence.ts";
import type {
  BegunTurn,
  FinalTranscript,
  LoadResult,
  Missing,
  PrunedTranscript,
  Refused,
  RepairResult,
  ResumedTurn,
  SaveResult,
  TranscriptAppend,
  TranscriptEnd,
  TranscriptReader,
  TranscriptReport,
  TranscriptRewrite,
  TranscriptSummary,
  Trash,
} from "./transcript-results.ts";

/**
 * Durable transcripts. Each save is whole or not there, and durable when it is acknowledged. One writer at a
 * time: every call that writes throws `operation_in_progress` with the holder in its details when another does
 * not let go in time; loads never wait. Every call throws `data_dir_unusable` when the files could not be
 * read or written; a save has then changed nothing that a load would show, or is complete when it is repeated.
 */
export interface TranscriptStore {
  /** Pure: writes nothing, and gives the same until somebody saves. */
  load(ref: TranscriptRef, budgets?: Partial<TranscriptBudgets>): Promise<LoadResult>;
  /** Opens a transcript of any length for `work`, which is over before the files are closed. Pure like `load`. */
  read<Result>(
    ref: TranscriptRef,
    work: (reader: TranscriptReader) => Promise<Result>,
  ): Promise<{ readonly kind: "read"; readonly result: Result } | Missing | Refused>;
  /** The last `limit` messages. While the index is current no more is read than their records. Pure like `load`. */
  end(ref: TranscriptRef, limit: number): Promise<TranscriptEnd | Missing | Refused>;
  /** What is on disk, without its messages. Fast while the index is current. */
  summary(ref: TranscriptRef): Promise<TranscriptSummary | Missing | Refused>;
  /** The first save, or any: the same as `saveSnapshot`. */
  save(ref: TranscriptRef, draft: TranscriptAppend): Promise<SaveResult>;
  /** Adds messages to the end. Never takes any away. */
  saveSnapshot(ref: TranscriptRef, draft: TranscriptAppend): Promise<SaveResult>;
  /**
   * Replaces messages; only by who knows all that is there. For callers of the library whose conversations are rewound;
   * what `ao` records of a session is only ever added to.
   */
  saveRewrite(ref: TranscriptRef, draft: TranscriptRewrite): Promise<SaveResult>;
  /**
   * Likewise, and the log holds nothing else after it: what comes late into a session is put in its place so. Salvage
   * and copies are not touched.
   */
  saveRewriteCompact(ref: TranscriptRef, draft: TranscriptRewrite): Promise<SaveResult>;
  /** Sets the marker of a turn, in the place of an older one. */
  beginTurn(
    ref: TranscriptRef,
    turn: { readonly id: string; readonly turnId: string | null; readonly keeps: TurnKeeps },
  ): Promise<BegunTurn | Refused>;
  /** The marker that is set; `null` for none. Pure like `load`, and reads the ledger alone. */
  turnInFlight(ref: TranscriptRef): Promise<InFlightTurn | null>;
  /** Before the last save of a turn: what its transcript will be. False when the marker is another one. */
  prepareCommit(ref: TranscriptRef, id: string, final: FinalTranscript): Promise<boolean>;
  /** False, and nothing changes, when the marker is another one. */
  clearTurn(ref: TranscriptRef, id: string): Promise<boolean>;
  /** Ends a turn whose writer died: keeps it when it was saved whole, else as much of it as its marker says. */
  resumeTurn(ref: TranscriptRef): Promise<ResumedTurn | Missing | Refused>;
  /** Reads every file and changes nothing. */
  verify(ref: TranscriptRef): Promise<TranscriptReport>;
  /** Sets right what `verify` finds, after it kept in the salvage what is cut off. Idempotent. */
  repair(ref: TranscriptRef): Promise<RepairResult>;
  /** The file that holds what repairs and saves cut off, as an absolute path; `null` when there is none. */
  salvage(ref: TranscriptRef): Promise<{ readonly path: string; readonly bytes: number } | null>;
  /** The copies of a transcript, by name. */
  copies(ref: TranscriptRef): Promise<readonly TranscriptRef[]>;
  /** All transcripts of a folder by name, copies left out. */
  list(folder: string): Promise<readonly TranscriptRef[]>;
  /**
   * Moves all files of a transcript, its copies included, into a trash folder on the same file system: all, or none
   * when one cannot be moved. Done again it goes on where it was broken off; without any file it does nothing.
   * `mayGo` is asked right before, when nobody else can write to it any more; its throw keeps all as it is.
   */
  prune(ref: TranscriptRef, to: Trash, mayGo?: Fence): Promise<PrunedTranscript>;
  /** Deletes what was pruned before a moment, Unix milliseconds. @returns the names it had in the trash. */
  emptyTrash(from: Trash, beforeMs: number): Promise<readonly string[]>;
}
