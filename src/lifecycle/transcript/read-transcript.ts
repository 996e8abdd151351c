import { canonicalJson } from "../../domain/canonical-json.ts";
import type { Source } from "../../domain/transcript/decide-source.ts";
import { EMPTY_DIGEST, extendDigest } from "../../domain/transcript/digest.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { OpenFile } from "../../ports/transcript-files.ts";
import type {
  LogDamage,
  Missing,
  NumberedMessage,
  Refused,
  TranscriptReader,
} from "../../ports/transcript-results.ts";
import type { TranscriptContext } from "./context.ts";
import { findSource, foreignCheckpoint } from "./find-source.ts";
import { readMissing } from "./load.ts";
import { type LinePlace, replayPlaces } from "./open-log.ts";
import { checkpointMessages } from "./read-checkpoint.ts";
import { withFile } from "./read-file.ts";
import { numberedMessages } from "./read-messages.ts";
import type { LogReplay } from "./replay-log.ts";

type Reading<Result> = { readonly kind: "read"; readonly result: Result } | Missing | Refused;
type Work<Result> = (reader: TranscriptReader) => Promise<Result>;

/** Reads a transcript of any length: from its log, or from its checkpoint when that holds what no log does. */
export async function readTranscript<Result>(
  context: TranscriptContext,
  paths: TranscriptPaths,
  work: Work<Result>,
): Promise<Reading<Result>> {
  const read = await withFile(context.files, paths.log, (file) =>
    readLogFile(context, paths, { file, work }),
  );
  if (read !== undefined) return read;
  return readWithoutLog(context, paths, { source: await findSource(context, paths, null), damage: [], work });
}

async function readLogFile<Result>(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { file, work }: { readonly file: OpenFile; readonly work: Work<Result> },
): Promise<Reading<Result>> {
  const replayed = await replayPlaces(context, paths, file);
  if (replayed.kind === "refused" && replayed.refusal.reason !== "foreign") return replayed;
  const replay = replayed.kind === "replayed" ? replayed.replay : undefined;
  const source = await findSource(context, paths, replay?.records ? replay.chain.head() : null);
  if (replay !== undefined && source.kind === "log") {
    return { kind: "read", result: await work(logReader(context, file, replay, source.lost)) };
  }
  const damage = replay?.damage ?? [{ kind: "foreign", offset: 0, bytes: file.sizeBytes }];
  const read = await readWithoutLog(context, paths, { source, damage, work });
  return replayed.kind === "refused" && read.kind === "missing" ? replayed : read;
}

function logReader(
  context: TranscriptContext,
  file: OpenFile,
  { chain, damage, savedAtMs }: LogReplay<LinePlace>,
  lost: number,
): TranscriptReader {
  return {
    ...{ from: "log", head: chain.head(), gaps: chain.gaps(), damage, lost, savedAtMs },
    messages: (first) => numberedMessages(context, file, chain.spans(), first),
  };
}

interface Beside<Result> {
  readonly source: Source;
  /** Of the log. */
  readonly damage: readonly LogDamage[];
  readonly work: Work<Result>;
}

async function readWithoutLog<Result>(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { source, damage, work }: Beside<Result>,
): Promise<Reading<Result>> {
  if (source.kind === "foreign") return foreignCheckpoint(paths);
  const read = await withFile(
    context.files,
    paths.checkpoint,
    async (file): Promise<Reading<Result> | undefined> => {
      const reader = await checkpointReader(context, file, { damage, lost: source.lost });
      return reader && { kind: "read", result: await work(reader) };
    },
  );
  return read ?? readMissing(context, paths);
}

async function checkpointReader(
  { sha256 }: TranscriptContext,
  file: OpenFile,
  known: Pick<TranscriptReader, "damage" | "lost">,
): Promise<TranscriptReader | undefined> {
  let count = 0;
  let digest = EMPTY_DIGEST;
  for await (const message of checkpointMessages(file)) {
    count += 1;
    digest = extendDigest(sha256, digest, canonicalJson(message));
  }
  if (count === 0) return undefined;
  return {
    ...{ ...known, from: "checkpoint", gaps: [], savedAtMs: null },
    head: { count, digest, revision: 0, rewrites: 0 },
    messages: (first) => numbered(file, first),
  };
}

async function* numbered(file: OpenFile, first: number): AsyncGenerator<NumberedMessage> {
  let index = 0;
  for await (const message of checkpointMessages(file)) {
    if (index >= first) yield { index, message };
    index += 1;
  }
}
