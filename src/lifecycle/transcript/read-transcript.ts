import { canonicalJson } from "../../domain/canonical-json.ts";
import { EMPTY_DIGEST, extendDigest } from "../../domain/transcript/digest.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { OpenFile } from "../../ports/transcript-files.ts";
import type { Missing, NumberedMessage, Refused, TranscriptReader } from "../../ports/transcript-store.ts";
import type { TranscriptContext } from "./context.ts";
import { readMissing } from "./load.ts";
import { replayPlaces } from "./open-log.ts";
import { checkpointMessages } from "./read-checkpoint.ts";
import { withFile } from "./read-file.ts";
import { numberedMessages } from "./read-messages.ts";

type Reading<Result> = { readonly kind: "read"; readonly result: Result } | Missing | Refused;
type Work<Result> = (reader: TranscriptReader) => Promise<Result>;

/** Reads a transcript of any length: from its log, or from its checkpoint when there is no log of `ao`. */
export async function readTranscript<Result>(
  context: TranscriptContext,
  paths: TranscriptPaths,
  work: Work<Result>,
): Promise<Reading<Result>> {
  const fromLog = await withFile(context.files, paths.log, (file) =>
    readLogFile(context, paths, { file, work }),
  );
  const isForeign = fromLog?.kind === "refused" && fromLog.refusal.reason === "foreign";
  if (fromLog !== undefined && !isForeign) return fromLog;
  const fromCheckpoint = await withFile(context.files, paths.checkpoint, (file) =>
    readCheckpointFile(context, file, work),
  );
  return fromCheckpoint ?? fromLog ?? readMissing(context, paths);
}

async function readLogFile<Result>(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { file, work }: { readonly file: OpenFile; readonly work: Work<Result> },
): Promise<Reading<Result> | undefined> {
  const replayed = await replayPlaces(context, paths, file);
  if (replayed.kind === "refused") return replayed;
  const { chain, damage, records, savedAtMs } = replayed.replay;
  if (records === 0) return undefined;
  const result = await work({
    ...{ from: "log", head: chain.head(), gaps: chain.gaps(), damage, savedAtMs },
    messages: (first) => numberedMessages(context, file, chain.spans(), first),
  });
  return { kind: "read", result };
}

async function readCheckpointFile<Result>(
  { sha256 }: TranscriptContext,
  file: OpenFile,
  work: Work<Result>,
): Promise<Reading<Result> | undefined> {
  let count = 0;
  let digest = EMPTY_DIGEST;
  for await (const message of checkpointMessages(file)) {
    count += 1;
    digest = extendDigest(sha256, digest, canonicalJson(message));
  }
  if (count === 0) return undefined;
  const result = await work({
    ...{ from: "checkpoint", gaps: [], damage: [], savedAtMs: null },
    head: { count, digest, revision: 0, rewrites: 0 },
    messages: (first) => numbered(file, first),
  });
  return { kind: "read", result };
}

async function* numbered(file: OpenFile, first: number): AsyncGenerator<NumberedMessage> {
  let index = 0;
  for await (const message of checkpointMessages(file)) {
    if (index >= first) yield { index, message };
    index += 1;
  }
}
