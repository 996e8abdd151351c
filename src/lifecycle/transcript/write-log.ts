import { canonicalJson } from "../../domain/canonical-json.ts";
import type { TranscriptHead } from "../../domain/transcript/chain.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import { type RecordPlan, recordBuilder } from "../../domain/transcript/record-builder.ts";
import { concat, encode, encodeLine } from "./bytes.ts";
import type { TranscriptContext } from "./context.ts";
import type { OpenLog } from "./open-log.ts";
import { attempt, bufferedWriter, replaceFile, withWriter, writeAll } from "./write-file.ts";

/** Records to append, and the transcript after them. */
export interface NewRecords {
  readonly lines: readonly Uint8Array[];
  readonly head: TranscriptHead;
}

/** Messages as records. @param texts canonical JSON. */
export function recordsOf(
  { sha256 }: TranscriptContext,
  plan: RecordPlan,
  texts: readonly string[],
): NewRecords {
  const builder = recordBuilder(sha256, plan);
  const lines = [...texts.map((text) => builder.add(text)), builder.finish()];
  return {
    lines: lines.flatMap((line) => (line === undefined ? [] : [encodeLine(line)])),
    head: builder.head(),
  };
}

/**
 * Adds records to the end of a log that has no torn tail. Durable when it resolves; the log is at its old
 * length when it throws, unless that failed too: then the records are there, or their beginning is.
 */
export async function appendRecords(
  context: TranscriptContext,
  paths: TranscriptPaths,
  log: OpenLog,
  { lines, head }: NewRecords,
): Promise<OpenLog> {
  const { files } = context;
  const seal = encode(log.isTerminated ? "" : "\n");
  const bytes = concat([seal, ...lines]);
  try {
    await withWriter(files.append(paths.log), async (out) => {
      await writeAll(out, bytes);
      await out.fsync();
    });
    if (!log.isVouched) await files.fsyncFolder(paths.folder);
  } catch (error) {
    await attempt(() =>
      log.sizeBytes === 0 ? files.unlink(paths.log) : files.truncate(paths.log, log.sizeBytes),
    );
    throw error;
  }
  const sizeBytes = log.sizeBytes + bytes.length;
  const lastRecordOffset = sizeBytes - (lines.at(-1)?.length ?? 0);
  const { isWhole, checkpoint } = log;
  const savedAtMs = context.clock.nowMs();
  return { ...writtenLog(head, sizeBytes), savedAtMs, lastRecordOffset, isWhole, checkpoint };
}

/** Puts a log in the place of the old one that holds these messages and nothing else, durably. */
export async function rewriteLog(
  context: TranscriptContext,
  paths: TranscriptPaths,
  plan: RecordPlan,
  messages: AsyncIterable<TranscriptMessage> | Iterable<TranscriptMessage>,
): Promise<OpenLog> {
  const builder = recordBuilder(context.sha256, plan);
  const target = { folder: paths.folder, path: paths.log };
  return replaceFile(context.files, target, async (out) => {
    const buffer = bufferedWriter(out);
    let lastRecordOffset = 0;
    const put = async (line: string | undefined) => {
      if (line === undefined) return;
      lastRecordOffset = buffer.sizeBytes();
      await buffer.put(encodeLine(line));
    };
    for await (const message of messages) await put(builder.add(canonicalJson(message)));
    await put(builder.finish());
    await buffer.flush();
    return { ...writtenLog(builder.head(), buffer.sizeBytes()), lastRecordOffset };
  });
}

function writtenLog(head: TranscriptHead, sizeBytes: number): OpenLog {
  return {
    ...{ head, sizeBytes, endBytes: sizeBytes, isTerminated: true },
    ...{ lastRecordOffset: 0, isVouched: true },
    ...{ isWhole: true, savedAtMs: null, checkpoint: null },
  };
}
