import type { TranscriptBudgets, TranscriptRefusal } from "../../domain/transcript/budgets.ts";
import { type TranscriptChain, transcriptChain } from "../../domain/transcript/chain.ts";
import type { Sha256 } from "../../domain/transcript/digest.ts";
import { mayBeTornLog, parseRecordLine, type TranscriptRecord } from "../../domain/transcript/record.ts";
import type { OpenFile } from "../../ports/transcript-files.ts";
import type { LogDamage } from "../../ports/transcript-results.ts";
import { decode } from "./bytes.ts";
import { type Line, readLines, type TooLong } from "./read-file.ts";

/** A log that was read from its first byte to its last. */
export interface LogReplay<Place> {
  readonly chain: TranscriptChain<Place>;
  /** Between good records, and at the end; ascending. */
  readonly damage: readonly LogDamage[];
  readonly records: number;
  readonly sizeBytes: number;
  /** Behind the last good record and its line feed. What follows is torn. */
  readonly endBytes: number;
  /** Whether the last good record has its line feed. */
  readonly isTerminated: boolean;
  readonly lastRecordOffset: number;
  /** When the last good record was written, Unix milliseconds; `null` without one. */
  readonly savedAtMs: number | null;
}

export type Replayed<Place> =
  | { readonly kind: "replayed"; readonly replay: LogReplay<Place> }
  | { readonly kind: "refused"; readonly refusal: TranscriptRefusal };

export interface ReplayOptions<Place> {
  readonly path: string;
  /** Whose records it has to hold. */
  readonly owner: string;
  readonly sha256: Sha256;
  readonly budgets: TranscriptBudgets;
  /** What to remember of a record. */
  readonly place: (record: TranscriptRecord, line: Line) => Place;
  /** Ends the reading as soon as it is true of what was read so far. */
  readonly until?: (chain: TranscriptChain<Place>) => boolean;
}

interface Progress<Place> {
  readonly chain: TranscriptChain<Place>;
  readonly damage: LogDamage[];
  records: number;
  endBytes: number;
  isTerminated: boolean;
  lastRecordOffset: number;
  savedAtMs: number | null;
  /** Whether a record of another transcript was found. */
  isMixed: boolean;
}

/** Reads a log, record by record, and puts together what its records prove. */
export async function replayLog<Place>(
  file: OpenFile,
  options: ReplayOptions<Place>,
): Promise<Replayed<Place>> {
  const { path, budgets } = options;
  if (file.sizeBytes > budgets.maxBytes) return refused(overBudget(path, budgets, "maxBytes"));
  const progress: Progress<Place> = {
    ...{ chain: transcriptChain<Place>(), damage: [], records: 0 },
    ...{ endBytes: 0, isTerminated: true, lastRecordOffset: 0, savedAtMs: null },
    isMixed: false,
  };
  for await (const line of readLines(file, budgets.maxRecordBytes)) {
    const refusal = takeLine(progress, line, options);
    if (refusal !== undefined) return refused(refusal);
    if (options.until?.(progress.chain)) break;
  }
  const isForeign = progress.records === 0 && (progress.isMixed || !(await mayBeOurs(file)));
  if (isForeign) return refused({ reason: "foreign", path });
  return { kind: "replayed", replay: finish(progress, file.sizeBytes) };
}

/** Adds a line to what is known; returns why the whole log is refused, if it is. */
function takeLine<Place>(
  progress: Progress<Place>,
  line: Line | TooLong,
  { path, owner, sha256, budgets, place }: ReplayOptions<Place>,
): TranscriptRefusal | undefined {
  if (line.kind === "too_long") return overBudget(path, budgets, "maxRecordBytes");
  const { offset, bytes } = line;
  const text = decode(bytes);
  const parsed = text === undefined ? undefined : parseRecordLine(sha256, text);
  if (parsed?.kind === "newer") return { reason: "newer", path };
  if (parsed?.kind !== "record") {
    if (bytes.length > 0) progress.damage.push({ kind: "unreadable", offset, bytes: bytes.length });
    return undefined;
  }
  const { record, digests } = parsed;
  if (record.owner !== owner) {
    progress.isMixed = true;
    progress.damage.push({ kind: "foreign", offset, bytes: bytes.length });
    return undefined;
  }
  if (!progress.chain.offer(record, digests, place(record, line))) {
    progress.damage.push({ kind: "unlinked", offset, bytes: bytes.length });
    return undefined;
  }
  progress.records += 1;
  progress.endBytes = offset + bytes.length + (line.isTerminated ? 1 : 0);
  progress.isTerminated = line.isTerminated;
  progress.lastRecordOffset = offset;
  progress.savedAtMs = record.atMs;
  const exceeded = exceededBudget(progress, budgets);
  return exceeded && overBudget(path, budgets, exceeded);
}

function finish<Place>(progress: Progress<Place>, sizeBytes: number): LogReplay<Place> {
  const { endBytes } = progress;
  const damage = progress.damage.filter(({ offset }) => offset < endBytes);
  const torn: LogDamage = { kind: "torn_tail", offset: endBytes, bytes: sizeBytes - endBytes };
  return { ...progress, sizeBytes, damage: torn.bytes > 0 ? [...damage, torn] : damage };
}

function exceededBudget<Place>(
  { records, chain }: Progress<Place>,
  { maxRecords, maxMessages }: TranscriptBudgets,
): "maxRecords" | "maxMessages" | undefined {
  if (records > maxRecords) return "maxRecords";
  return chain.head().count > maxMessages ? "maxMessages" : undefined;
}

function overBudget(
  path: string,
  budgets: TranscriptBudgets,
  budget: keyof TranscriptBudgets,
): TranscriptRefusal {
  return { reason: "over_budget", path, budget, limit: budgets[budget] };
}

function refused(refusal: TranscriptRefusal): Replayed<never> {
  return { kind: "refused", refusal };
}

async function mayBeOurs(file: OpenFile): Promise<boolean> {
  const start = await file.read(0, 100);
  return mayBeTornLog(String.fromCharCode(...start));
}
