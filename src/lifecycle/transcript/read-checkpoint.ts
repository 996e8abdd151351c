import { canonicalJson } from "../../domain/canonical-json.ts";
import { STREAM_BUDGETS } from "../../domain/transcript/budgets.ts";
import type { CheckpointContent } from "../../domain/transcript/decide-source.ts";
import { EMPTY_DIGEST, extendDigest } from "../../domain/transcript/digest.ts";
import { parseMessage, type TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { OpenFile } from "../../ports/transcript-files.ts";
import { decode } from "./bytes.ts";
import type { TranscriptContext } from "./context.ts";
import { type Line, readLines, type TooLong, withFile } from "./read-file.ts";

function messageOf(line: Line | TooLong): TranscriptMessage | undefined {
  if (line.kind === "too_long") return undefined;
  try {
    return parseMessage(JSON.parse(decode(line.bytes) ?? ""));
  } catch {
    return undefined;
  }
}

/** The messages of an open checkpoint up to the first line that is none. */
export async function* checkpointMessages(file: OpenFile): AsyncGenerator<TranscriptMessage> {
  for await (const line of readLines(file, STREAM_BUDGETS.maxRecordBytes)) {
    const message = messageOf(line);
    if (message === undefined) return;
    yield message;
  }
}

/**
 * Reads a checkpoint to its end; `undefined` when there is none.
 *
 * @param committed how many messages the ledger has on record.
 */
export function readCheckpoint(
  { files, sha256 }: TranscriptContext,
  { checkpoint }: TranscriptPaths,
  committed?: number,
): Promise<CheckpointContent | undefined> {
  return withFile(files, checkpoint, async (file) => {
    let count = 0;
    let digest = EMPTY_DIGEST;
    let digestAtCommitted = committed === 0 ? digest : undefined;
    for await (const line of readLines(file, STREAM_BUDGETS.maxRecordBytes)) {
      const message = messageOf(line);
      if (message === undefined) return { count, digest, digestAtCommitted, isDamaged: true };
      count += 1;
      digest = extendDigest(sha256, digest, canonicalJson(message));
      if (count === committed) digestAtCommitted = digest;
    }
    return { count, digest, digestAtCommitted, isDamaged: false };
  });
}

/** How many lines of a checkpoint are messages, wherever they stand. */
export async function readableLines(
  { files }: TranscriptContext,
  { checkpoint }: TranscriptPaths,
): Promise<number> {
  const counted = await withFile(files, checkpoint, async (file) => {
    let count = 0;
    for await (const line of readLines(file, STREAM_BUDGETS.maxRecordBytes)) {
      if (messageOf(line) !== undefined) count += 1;
    }
    return count;
  });
  return counted ?? 0;
}
