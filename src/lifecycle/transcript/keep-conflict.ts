import { canonicalJson } from "../../domain/canonical-json.ts";
import { EMPTY_HEAD, type Span } from "../../domain/transcript/chain.ts";
import { decideConflict } from "../../domain/transcript/decide-save.ts";
import { digestsAfter, EMPTY_DIGEST, extendDigest } from "../../domain/transcript/digest.ts";
import type { TranscriptPrefix } from "../../domain/transcript/ledger.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import { copyRef, type TranscriptPaths, transcriptPaths } from "../../domain/transcript/names.ts";
import type { OpenFile } from "../../ports/transcript-files.ts";
import type { SaveResult, TranscriptAppend } from "../../ports/transcript-results.ts";
import { commit } from "./commit.ts";
import type { TranscriptContext } from "./context.ts";
import { hasLog, type OpenTranscript, openForSave } from "./open-for-save.ts";
import { digestAt, type LinePlace, replayPlaces } from "./open-log.ts";
import { withFile } from "./read-file.ts";
import { firstOf, messagesOf, readLog } from "./read-messages.ts";
import { appendRecords, recordsOf, rewriteLog } from "./write-log.ts";

/** What a writer could not save. */
interface Contested extends TranscriptAppend {
  /** The messages of its base that it keeps. */
  readonly keep: TranscriptPrefix;
  /** Of its transcript: of what it keeps, and after each of its messages. */
  readonly digests: readonly string[];
}

/** Answers a contested save: the transcript stays as it is, and what it does not hold is kept as a copy. */
export async function keepConflict(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { log: { head } }: OpenTranscript,
  contested: Contested,
): Promise<SaveResult> {
  const { keep, messages, digests } = contested;
  const onDisk = await digestAt(context, paths, keep.count + messages.length);
  const conflict = decideConflict(digests.at(-1) ?? keep.digest, onDisk);
  if (conflict === "stale_prefix") return { kind: "conflict", conflict, head, copy: null };
  const ref = copyRef(paths, context.sha256(JSON.stringify([paths.name, context.writer])));
  const kept = await keepCopy(context, { main: paths, copy: transcriptPaths(ref) }, contested);
  if (kept.kind === "refused") return kept;
  return { kind: "conflict", conflict, head, copy: kept.kind === "nothing_to_keep" ? null : ref };
}

/**
 * Finds the first messages of a transcript in an open log: in what it is, or in what it was before another
 * record. `undefined` when the log does not go back so far.
 */
async function spansOf(
  context: TranscriptContext,
  paths: TranscriptPaths,
  file: OpenFile,
  keep: TranscriptPrefix,
): Promise<readonly Span<LinePlace>[] | undefined> {
  let found: readonly Span<LinePlace>[] | undefined;
  await replayPlaces(context, paths, file, (chain) => {
    const isHere = chain.digestAt(keep.count) === keep.digest && chain.gaps().length === 0;
    if (isHere) found = chain.spans();
    return isHere;
  });
  return found;
}

interface CopyPaths {
  readonly main: TranscriptPaths;
  readonly copy: TranscriptPaths;
}

/** A continuation as a copy holds it: whole, or from where its beginning is lost. */
interface Stretch {
  readonly isWhole: boolean;
  /** Messages before those of the writer. */
  readonly first: number;
  /** After `first` messages, and after each of the writer's. */
  readonly digests: readonly string[];
}

async function keepCopy(
  context: TranscriptContext,
  { main, copy }: CopyPaths,
  contested: Contested,
): Promise<SaveResult | { readonly kind: "kept" | "nothing_to_keep" }> {
  const open = await openForSave(context, copy);
  if (open.kind === "refused") return open;
  const stretch = await stretchOf(context, main, contested);
  if (!stretch.isWhole && contested.messages.length === 0) return { kind: "nothing_to_keep" };
  const held = await lastStretch(context, copy, stretch);
  if (held.isCovered) return { kind: "kept" };
  const from = held.count - stretch.first;
  if (hasLog(open.log) && stretch.digests[from] === held.digest) {
    return grow(context, copy, open, contested.messages.slice(from).map(canonicalJson));
  }
  return commit(context, copy, open, {
    ...{ reason: "conflict", appended: null },
    write: ({ head: { revision, rewrites } }, stamped) => {
      const base = { ...EMPTY_HEAD, revision, rewrites };
      const messages = withStretch(context, { main, copy }, contested, stretch);
      return rewriteLog(context, copy, { base, type: "replace", ...stamped }, messages);
    },
  });
}

function grow(
  context: TranscriptContext,
  copy: TranscriptPaths,
  open: OpenTranscript,
  texts: readonly string[],
): Promise<SaveResult> {
  return commit(context, copy, open, {
    ...{ reason: "conflict", appended: texts },
    write: (log, stamped) => {
      const plan = { base: log.head, type: "append", ...stamped } as const;
      return appendRecords(context, copy, log, recordsOf(context, plan, texts));
    },
  });
}

async function stretchOf(
  context: TranscriptContext,
  main: TranscriptPaths,
  { keep, messages, digests }: Contested,
): Promise<Stretch> {
  const spans = await withFile(context.files, main.log, (file) => spansOf(context, main, file, keep));
  if (keep.count === 0 || spans !== undefined) return { isWhole: true, first: keep.count, digests };
  const own = digestsAfter(context.sha256, EMPTY_DIGEST, messages.map(canonicalJson));
  return { isWhole: false, first: 0, digests: own };
}

/** Begins another continuation in a copy; all that follows belongs to that. */
function seam(text: string): TranscriptMessage {
  return { role: "system", text, turnId: null, source: "ao", atMs: null, continuation: true };
}

interface HeldStretch {
  /** Whether one of the continuations holds all that is to be kept. */
  readonly isCovered: boolean;
  /** Of the last continuation. */
  readonly count: number;
  readonly digest: string;
}

async function lastStretch(
  context: TranscriptContext,
  copy: TranscriptPaths,
  { first, digests }: Stretch,
): Promise<HeldStretch> {
  const wanted = { count: first + digests.length - 1, digest: digests.at(-1) };
  let count = 0;
  let digest = EMPTY_DIGEST;
  let isCovered = false;
  for await (const message of readLog(context, copy)) {
    const isSeam = message["continuation"] === true;
    count = isSeam ? 0 : count + 1;
    digest = isSeam ? EMPTY_DIGEST : extendDigest(context.sha256, digest, canonicalJson(message));
    isCovered ||= count === wanted.count && digest === wanted.digest;
  }
  return { isCovered, count, digest };
}

/** What a copy holds, and one continuation more. */
async function* withStretch(
  context: TranscriptContext,
  { main, copy }: CopyPaths,
  { keep, messages }: Contested,
  { isWhole }: Stretch,
): AsyncGenerator<TranscriptMessage> {
  let isFirst = true;
  for await (const message of readLog(context, copy)) {
    isFirst = false;
    yield message;
  }
  if (!isWhole)
    yield seam(`What follows came after ${keep.count} messages that the log does not hold any more.`);
  else if (!isFirst) yield seam("Another continuation of the same conversation follows, from its beginning.");
  if (isWhole) yield* keptMessages(context, main, keep);
  yield* messages;
}

async function* keptMessages(
  context: TranscriptContext,
  main: TranscriptPaths,
  keep: TranscriptPrefix,
): AsyncGenerator<TranscriptMessage> {
  const file = await context.files.open(main.log);
  if (file === undefined) return;
  try {
    const spans = (await spansOf(context, main, file, keep)) ?? [];
    yield* firstOf(messagesOf(context, file, spans), keep.count);
  } finally {
    await file.close();
  }
}
