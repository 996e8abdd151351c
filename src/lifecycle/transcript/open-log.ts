import { STREAM_BUDGETS, type TranscriptRefusal } from "../../domain/transcript/budgets.ts";
import { EMPTY_HEAD, type TranscriptChain, type TranscriptHead } from "../../domain/transcript/chain.ts";
import {
  type CheckpointMark,
  type EventIndex,
  parseEventIndex,
} from "../../domain/transcript/event-index.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import { parseRecordLine } from "../../domain/transcript/record.ts";
import type { OpenFile } from "../../ports/transcript-files.ts";
import { decode, lineEnd } from "./bytes.ts";
import type { TranscriptContext } from "./context.ts";
import { readRange, readSidecar, withFile } from "./read-file.ts";
import { type LogReplay, type Replayed, replayLog } from "./replay-log.ts";

/** Where a record is in its log, in bytes; without its line feed. */
export interface LinePlace {
  readonly offset: number;
  readonly bytes: number;
}

/** What a writer has to know of a log before it adds to it. */
export interface OpenLog {
  readonly head: TranscriptHead;
  readonly sizeBytes: number;
  /** Behind the last good record; what follows is torn. */
  readonly endBytes: number;
  /** Whether the last good record has its line feed. */
  readonly isTerminated: boolean;
  readonly lastRecordOffset: number;
  /** Whether the index says so: then the log, and its name, are durable. */
  readonly isVouched: boolean;
  /** Whether nothing in it was damaged or missing when it was last read whole; its end aside. */
  readonly isWhole: boolean;
  /** When the last record was written, Unix milliseconds; `null` without one. */
  readonly savedAtMs: number | null;
  /** The checkpoint that was current when the index was written. */
  readonly checkpoint: CheckpointMark | null;
}

export type OpenedLog =
  | { readonly kind: "open"; readonly log: OpenLog }
  | { readonly kind: "refused"; readonly refusal: TranscriptRefusal };

const NO_LOG: OpenLog = {
  head: EMPTY_HEAD,
  sizeBytes: 0,
  endBytes: 0,
  isTerminated: true,
  lastRecordOffset: 0,
  isVouched: false,
  isWhole: true,
  savedAtMs: null,
  checkpoint: null,
};

/** Opens a log to add to it: by its index when that is current, else by reading all of it. */
export async function openLog(context: TranscriptContext, paths: TranscriptPaths): Promise<OpenedLog> {
  const index = parseEventIndex(await readSidecar(context.files, paths.index));
  const opened = await withFile(context.files, paths.log, async (file): Promise<OpenedLog> => {
    const vouched = index && (await openByIndex(context, paths, file, index));
    if (vouched !== undefined) return { kind: "open", log: vouched };
    const replayed = await replayPlaces(context, paths, file);
    return replayed.kind === "refused" ? replayed : { kind: "open", log: openByReplay(replayed.replay) };
  });
  return opened ?? { kind: "open", log: NO_LOG };
}

/** Reads a whole log, and remembers where its records are. */
export function replayPlaces(
  { sha256 }: TranscriptContext,
  { log, owner }: TranscriptPaths,
  file: OpenFile,
  until?: (chain: TranscriptChain<LinePlace>) => boolean,
): Promise<Replayed<LinePlace>> {
  return replayLog(file, {
    ...{ path: log, owner, sha256, budgets: STREAM_BUDGETS },
    place: (_record, { offset, bytes }) => ({ offset, bytes: bytes.length }),
    ...(until && { until }),
  });
}

/** Digest of the first messages of the transcript on disk; `undefined` when there are fewer, or unreadable ones. */
export function digestAt(
  context: TranscriptContext,
  paths: TranscriptPaths,
  count: number,
): Promise<string | undefined> {
  return withFile(context.files, paths.log, async (file) => {
    const replayed = await replayPlaces(context, paths, file);
    return replayed.kind === "replayed" ? replayed.replay.chain.digestAt(count) : undefined;
  });
}

function openByReplay(replay: LogReplay<LinePlace>): OpenLog {
  const { chain, damage, sizeBytes, endBytes, isTerminated, lastRecordOffset, savedAtMs } = replay;
  const isWhole = chain.gaps().length === 0 && damage.every(({ kind }) => kind === "torn_tail");
  return {
    ...{ head: chain.head(), sizeBytes, endBytes, isTerminated, lastRecordOffset, savedAtMs },
    ...{ isVouched: false, isWhole, checkpoint: null },
  };
}

/** The end of a log as its index has it, once its last record was found to be the one that the index names. */
export async function openByIndex(
  { sha256 }: TranscriptContext,
  { owner }: TranscriptPaths,
  file: OpenFile,
  index: EventIndex,
): Promise<OpenLog | undefined> {
  const { logBytes, lastRecordOffset, isWhole, checkpoint } = index;
  const lineBytes = logBytes - lastRecordOffset;
  if (file.sizeBytes !== logBytes || lineBytes < 1 || lineBytes > STREAM_BUDGETS.maxRecordBytes)
    return undefined;
  const line = await readRange(file, lastRecordOffset, logBytes);
  if (lineEnd(line, 0) !== lineBytes - 1) return undefined;
  const parsed = parseRecordLine(sha256, decode(line.subarray(0, -1)) ?? "");
  if (parsed.kind !== "record" || parsed.record.owner !== owner) return undefined;
  const { revision, digest, rewrites, messageIndex, messages, atMs: savedAtMs } = parsed.record;
  if (revision !== index.revision || digest !== index.digest) return undefined;
  return {
    head: { count: messageIndex + messages.length, digest, revision, rewrites },
    ...{ sizeBytes: logBytes, endBytes: logBytes, isTerminated: true, lastRecordOffset },
    ...{ isVouched: true, isWhole, savedAtMs, checkpoint },
  };
}
