import { AoError } from "../../domain/errors.ts";
import type { MessageRange, Span } from "../../domain/transcript/chain.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import { parseRecordLine } from "../../domain/transcript/record.ts";
import type { OpenFile } from "../../ports/transcript-files.ts";
import type { NumberedMessage } from "../../ports/transcript-results.ts";
import { decode } from "./bytes.ts";
import type { TranscriptContext } from "./context.ts";
import { type LinePlace, replayPlaces } from "./open-log.ts";
import { readRange } from "./read-file.ts";

/**
 * The messages of spans of an open log, from an index on, one record in memory at a time.
 *
 * @throws AoError data_dir_unusable when a record is not what it was a moment before.
 */
export async function* numberedMessages(
  { sha256 }: TranscriptContext,
  file: OpenFile,
  spans: readonly Span<LinePlace>[],
  first: number,
): AsyncGenerator<NumberedMessage> {
  for (const span of spans) {
    if (span.first + span.count <= first) continue;
    const { offset, bytes } = span.place;
    const line = decode(await readRange(file, offset, offset + bytes)) ?? "";
    const parsed = parseRecordLine(sha256, line);
    if (parsed.kind !== "record") {
      throw new AoError("data_dir_unusable", `a transcript changed while it was read, at byte ${offset}`);
    }
    const from = Math.max(0, first - span.first);
    const messages = parsed.record.messages.slice(from, span.count);
    for (const [at, message] of messages.entries()) yield { index: span.first + from + at, message };
  }
}

/** Likewise, without their numbers. */
export async function* messagesOf(
  context: TranscriptContext,
  file: OpenFile,
  spans: readonly Span<LinePlace>[],
  first = 0,
): AsyncGenerator<TranscriptMessage> {
  for await (const { message } of numberedMessages(context, file, spans, first)) yield message;
}

/** The first of many. */
export async function* firstOf(
  messages: AsyncIterable<TranscriptMessage>,
  count: number,
): AsyncGenerator<TranscriptMessage> {
  if (count === 0) return;
  let taken = 0;
  for await (const message of messages) {
    yield message;
    taken += 1;
    if (taken === count) return;
  }
}

/** The messages of one, then those of another. */
export async function* joined(
  first: AsyncIterable<TranscriptMessage>,
  rest: AsyncIterable<TranscriptMessage> | Iterable<TranscriptMessage>,
): AsyncGenerator<TranscriptMessage> {
  yield* first;
  yield* rest;
}

/** How what cannot be read is told of in a transcript that is written anew. */
export function gapNote({ count }: Pick<MessageRange, "count">): TranscriptMessage {
  const what = count === 1 ? "1 message is" : `${count} messages are`;
  const text = `${what} missing here: the log was damaged, and what was left of it is in the salvage.`;
  return { role: "system", text, turnId: null, source: "ao", atMs: null, missing: count };
}

/** Likewise, from an index on, with a note of `ao` in the place of each gap. */
export async function* messagesWithNotes(
  context: TranscriptContext,
  file: OpenFile,
  spans: readonly Span<LinePlace>[],
  { gaps, from }: { readonly gaps: readonly MessageRange[]; readonly from: number },
): AsyncGenerator<TranscriptMessage> {
  const noted = gaps.map((gap) => ({ ...gap, isGap: true as const }));
  const parts = [...spans.map((span) => ({ ...span, isGap: false as const })), ...noted];
  for (const part of parts.toSorted((one, other) => one.first - other.first)) {
    const end = part.first + part.count;
    if (end <= from) continue;
    if (part.isGap) yield gapNote({ count: Math.min(part.count, end - from) });
    else yield* messagesOf(context, file, [part], from);
  }
}

/** The messages of a transcript from its log; none when it has no log that can be read. */
export async function* readLog(
  context: TranscriptContext,
  paths: TranscriptPaths,
): AsyncGenerator<TranscriptMessage> {
  const file = await context.files.open(paths.log);
  if (file === undefined) return;
  try {
    const replayed = await replayPlaces(context, paths, file);
    if (replayed.kind === "replayed") {
      yield* messagesOf(context, file, replayed.replay.chain.spans());
    }
  } finally {
    await file.close();
  }
}
