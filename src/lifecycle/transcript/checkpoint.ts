import { canonicalJson } from "../../domain/canonical-json.ts";
import type { CheckpointMark } from "../../domain/transcript/event-index.ts";
import type { TranscriptLedger } from "../../domain/transcript/ledger.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import { concat, decodeAnything, encodeLine } from "./bytes.ts";
import type { TranscriptContext } from "./context.ts";
import { keepCheckpoint } from "./keep-checkpoint.ts";
import { type OpenLog, replayPlaces } from "./open-log.ts";
import { readRange, withFile } from "./read-file.ts";
import { messagesOf } from "./read-messages.ts";
import { attempt, bufferedWriter, replaceFile, withWriter, writeAll } from "./write-file.ts";

/** How much of the end of a checkpoint is looked at before it is extended, in bytes. */
const TAIL_BYTES = 4096;

/** By what a checkpoint can be known again; `undefined` when there is none. */
function markOf(
  { files, sha256 }: TranscriptContext,
  { checkpoint }: TranscriptPaths,
): Promise<CheckpointMark | undefined> {
  return withFile(files, checkpoint, async (file) => {
    const { sizeBytes: bytes } = file;
    const tail = await readRange(file, Math.max(0, bytes - TAIL_BYTES), bytes);
    return { bytes, tailDigest: sha256(decodeAnything(tail)) };
  });
}

/** Whether a checkpoint is the one that was marked, by its size and its end. */
export async function isCheckpointCurrent(
  context: TranscriptContext,
  paths: TranscriptPaths,
  mark: CheckpointMark | null,
): Promise<boolean> {
  if (mark === null) return false;
  const found = await markOf(context, paths);
  return found?.bytes === mark.bytes && found.tailDigest === mark.tailDigest;
}

/** A log that was just written, and what was known before. */
export interface CheckpointChange {
  readonly log: OpenLog;
  /** As it was before. */
  readonly ledger: TranscriptLedger;
  /** What was added to the end, as canonical JSON; `null` when the change was another one. */
  readonly appended: readonly string[] | null;
}

/** Brings a checkpoint up to a log that was just written; what only it holds is in the salvage before. */
export async function writeCheckpoint(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { log, ledger, appended }: CheckpointChange,
): Promise<CheckpointMark | null> {
  const isCurrent = await isCheckpointCurrent(context, paths, log.checkpoint);
  if (!isCurrent) await keepCheckpoint(context, paths, ledger);
  if (appended === null || !isCurrent || log.checkpoint === null) await rebuild(context, paths);
  else await extend(context, paths, log.checkpoint.bytes, concat(appended.map(encodeLine)));
  return (await markOf(context, paths)) ?? null;
}

async function extend(
  { files }: TranscriptContext,
  { checkpoint }: TranscriptPaths,
  sizeBytes: number,
  lines: Uint8Array,
): Promise<void> {
  if (lines.length === 0) return;
  try {
    await withWriter(files.append(checkpoint), async (out) => {
      await writeAll(out, lines);
      await out.fsync();
    });
  } catch (error) {
    await attempt(() => files.truncate(checkpoint, sizeBytes));
    throw error;
  }
}

/** Writes a checkpoint anew from the log, one record in memory at a time. */
async function rebuild(context: TranscriptContext, paths: TranscriptPaths): Promise<void> {
  await withFile(context.files, paths.log, async (file) => {
    const replayed = await replayPlaces(context, paths, file);
    if (replayed.kind === "refused") throw new Error(`the log is ${replayed.refusal.reason}`);
    await put(context, paths, messagesOf(context, file, replayed.replay.chain.spans()));
  });
}

function put(
  { files }: TranscriptContext,
  { folder, checkpoint: path }: TranscriptPaths,
  messages: AsyncIterable<TranscriptMessage>,
): Promise<void> {
  return replaceFile(files, { folder, path }, async (out) => {
    const buffer = bufferedWriter(out);
    for await (const message of messages) await buffer.put(encodeLine(canonicalJson(message)));
    await buffer.flush();
  });
}
