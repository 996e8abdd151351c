import { STREAM_BUDGETS } from "../../domain/transcript/budgets.ts";
import { parseEventIndex } from "../../domain/transcript/event-index.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import { parseRecordLine, type TranscriptRecord } from "../../domain/transcript/record.ts";
import type { OpenFile } from "../../ports/transcript-files.ts";
import type { Missing, Refused, TranscriptEnd, TranscriptReader } from "../../ports/transcript-results.ts";
import { decode } from "./bytes.ts";
import type { TranscriptContext } from "./context.ts";
import { findSource } from "./find-source.ts";
import { type OpenLog, openByIndex } from "./open-log.ts";
import { linesBefore, readSidecar, withFile } from "./read-file.ts";
import { readTranscript } from "./read-transcript.ts";

/**
 * The last messages of a transcript: from the end of its log, each record proven and linked to the next one, as long
 * as the index vouches for what is before; else by reading all of it.
 */
export async function readEnd(
  context: TranscriptContext,
  paths: TranscriptPaths,
  limit: number,
): Promise<TranscriptEnd | Missing | Refused> {
  const end = await endByIndex(context, paths, limit);
  if (end !== undefined) return end;
  const read = await readTranscript(context, paths, (reader) => endOfAll(reader, limit));
  return read.kind === "read" ? read.result : read;
}

async function endByIndex(
  context: TranscriptContext,
  paths: TranscriptPaths,
  limit: number,
): Promise<TranscriptEnd | undefined> {
  const index = parseEventIndex(await readSidecar(context.files, paths.index));
  if (index === undefined || !index.isWhole) return undefined;
  return withFile(context.files, paths.log, async (file) => {
    const log = await openByIndex(context, paths, file, index);
    // What the log lost may be in the checkpoint.
    const isCut = log !== undefined && (await findSource(context, paths, log.head)).kind !== "log";
    return log === undefined || isCut ? undefined : endOfLog(context, paths, { file, log }, limit);
  });
}

/** `undefined` where what the last records say does not tell the messages. */
async function endOfLog(
  context: TranscriptContext,
  { owner }: TranscriptPaths,
  { file, log: { head, endBytes } }: { readonly file: OpenFile; readonly log: OpenLog },
  limit: number,
): Promise<TranscriptEnd | undefined> {
  const parts: (readonly TranscriptMessage[])[] = [];
  for await (const record of linkedRecords(context, file, endBytes)) {
    if (record.owner !== owner) return undefined;
    const { messages, messageIndex } = record;
    parts.unshift(messages);
    const isWhole = messageIndex === 0;
    if (isWhole || head.count - messageIndex >= limit) {
      return cut({ head, messages: parts.flat(), isWhole }, limit);
    }
  }
  return undefined;
}

/**
 * The last records of a log, the last one first, each proven by itself and by the one after it. Ends with one that
 * replaces: what it kept of the messages before may be in any record before it.
 */
async function* linkedRecords(
  { sha256 }: TranscriptContext,
  file: OpenFile,
  endBytes: number,
): AsyncGenerator<TranscriptRecord> {
  let next: TranscriptRecord | undefined;
  for await (const line of linesBefore(file, endBytes, STREAM_BUDGETS.maxRecordBytes)) {
    const parsed = parseRecordLine(sha256, decode(line) ?? "");
    if (parsed.kind !== "record" || !(next === undefined || isNext(parsed.record, next))) return;
    yield parsed.record;
    if (parsed.record.type === "replace") return;
    next = parsed.record;
  }
}

function isNext(record: TranscriptRecord, next: TranscriptRecord): boolean {
  const { revision, digest, messageIndex, messages } = record;
  const isLinked = next.baseRevision === revision && next.baseDigest === digest;
  return isLinked && next.messageIndex === messageIndex + messages.length;
}

async function endOfAll(reader: TranscriptReader, limit: number): Promise<TranscriptEnd> {
  const { head, gaps } = reader;
  const first = Math.max(0, head.count - limit);
  const messages: TranscriptMessage[] = [];
  for await (const { message } of reader.messages(first)) messages.push(message);
  return { kind: "end", head, messages, isWhole: first === 0 && gaps.length === 0 };
}

function cut(end: Omit<TranscriptEnd, "kind">, limit: number): TranscriptEnd {
  const extra = Math.max(0, end.messages.length - limit);
  return { ...end, kind: "end", messages: end.messages.slice(extra), isWhole: end.isWhole && extra === 0 };
}
