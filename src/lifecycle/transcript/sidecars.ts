import { canonicalJson } from "../../domain/canonical-json.ts";
import { errorMessage } from "../../domain/errors.ts";
import { encodeEventIndex } from "../../domain/transcript/event-index.ts";
import {
  EMPTY_LEDGER,
  encodeLedger,
  parseLedger,
  type TranscriptLedger,
} from "../../domain/transcript/ledger.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { SidecarWarning } from "../../ports/transcript-store.ts";
import { concat, encode, encodeLine } from "./bytes.ts";
import type { TranscriptContext } from "./context.ts";
import { type OpenLog, replayPlaces } from "./open-log.ts";
import { readSidecar, sizeOf, withFile } from "./read-file.ts";
import { messagesOf } from "./read-messages.ts";
import { attempt, bufferedWriter, replaceFile, replaceLazily, withWriter, writeAll } from "./write-file.ts";

/** The ledger to go on from; `newer` when a newer `ao` keeps it. One that cannot be read is begun anew. */
export async function readLedger(
  { files }: TranscriptContext,
  { ledger }: TranscriptPaths,
): Promise<TranscriptLedger | "newer"> {
  const parsed = parseLedger(await readSidecar(files, ledger));
  if (parsed.kind === "newer") return "newer";
  return parsed.kind === "ledger" ? parsed.ledger : EMPTY_LEDGER;
}

/** Durable when it resolves. */
export async function writeLedger(
  { files }: TranscriptContext,
  { folder, ledger: path }: TranscriptPaths,
  ledger: TranscriptLedger,
): Promise<void> {
  await replaceFile(files, { folder, path }, (out) => writeAll(out, encode(encodeLedger(ledger))));
}

/** A log that was just written, and what of it is new. */
export interface Settling {
  readonly log: OpenLog;
  readonly ledger: TranscriptLedger;
  /** Messages as canonical JSON that were added to a log that was `checkpointBytes` ago; else `null`. */
  readonly appended: readonly string[] | null;
}

/**
 * Brings the files beside a log up to date: checkpoint, ledger, index, in this order. The log is durable
 * already, so that what fails here is a warning, and is done again at the next save.
 */
export async function settle(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { log, ledger, appended }: Settling,
): Promise<readonly SidecarWarning[]> {
  const warnings: SidecarWarning[] = [];
  const tryTo = async <Result>(file: SidecarWarning["file"], work: () => Promise<Result>) => {
    try {
      return await work();
    } catch (error) {
      warnings.push({ file, cause: errorMessage(error) });
      return null;
    }
  };
  const checkpointBytes = await tryTo("checkpoint", () => writeCheckpoint(context, paths, log, appended));
  const { count, digest, revision } = log.head;
  const committed = { count, digest, revision };
  const next = {
    ...ledger,
    committed,
    revision: Math.max(ledger.revision, revision),
    writer: context.writer,
  };
  if (!isSameLedger(ledger, next)) await tryTo("ledger", () => writeLedger(context, paths, next));
  const { sizeBytes: logBytes, lastRecordOffset } = log;
  const index = { logBytes, lastRecordOffset, revision, digest, checkpointBytes };
  await tryTo("index", () => replaceLazily(context.files, paths.index, encodeEventIndex(index)));
  return warnings;
}

function isSameLedger(one: TranscriptLedger, other: TranscriptLedger): boolean {
  return one.committed?.digest === other.committed?.digest && one.revision === other.revision;
}

/** @returns the size of the checkpoint, in bytes. */
async function writeCheckpoint(
  context: TranscriptContext,
  paths: TranscriptPaths,
  log: OpenLog,
  appended: readonly string[] | null,
): Promise<number> {
  const { checkpointBytes } = log;
  const isCurrent =
    checkpointBytes !== null && (await sizeOf(context.files, paths.checkpoint)) === checkpointBytes;
  if (appended === null || !isCurrent) return rebuildCheckpoint(context, paths);
  return extendCheckpoint(context, paths, checkpointBytes, concat(appended.map(encodeLine)));
}

async function extendCheckpoint(
  { files }: TranscriptContext,
  { checkpoint }: TranscriptPaths,
  sizeBytes: number,
  lines: Uint8Array,
): Promise<number> {
  if (lines.length === 0) return sizeBytes;
  try {
    await withWriter(files.append(checkpoint), async (out) => {
      await writeAll(out, lines);
      await out.fsync();
    });
  } catch (error) {
    await attempt(() => files.truncate(checkpoint, sizeBytes));
    throw error;
  }
  return sizeBytes + lines.length;
}

/** Writes a checkpoint anew from the log, one message in memory at a time. */
async function rebuildCheckpoint(context: TranscriptContext, paths: TranscriptPaths): Promise<number> {
  const rebuilt = await withFile(context.files, paths.log, async (file) => {
    const replayed = await replayPlaces(context, paths, file);
    if (replayed.kind === "refused") throw new Error(`the log is ${replayed.refusal.reason}`);
    const spans = replayed.replay.chain.spans();
    return writeMessages(context, paths, messagesOf(context, file, spans));
  });
  return rebuilt ?? 0;
}

function writeMessages(
  { files }: TranscriptContext,
  { folder, checkpoint: path }: TranscriptPaths,
  messages: AsyncIterable<TranscriptMessage>,
): Promise<number> {
  return replaceFile(files, { folder, path }, async (out) => {
    const buffer = bufferedWriter(out);
    for await (const message of messages) await buffer.put(encodeLine(canonicalJson(message)));
    await buffer.flush();
    return buffer.sizeBytes();
  });
}
