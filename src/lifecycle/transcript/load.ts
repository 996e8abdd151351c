import { canonicalJson } from "../../domain/canonical-json.ts";
import type { TranscriptBudgets } from "../../domain/transcript/budgets.ts";
import type { TranscriptHead } from "../../domain/transcript/chain.ts";
import type { Source } from "../../domain/transcript/decide-source.ts";
import { digestsAfter, EMPTY_DIGEST } from "../../domain/transcript/digest.ts";
import { parseLedger } from "../../domain/transcript/ledger.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { LoadResult, Missing } from "../../ports/transcript-results.ts";
import type { TranscriptContext } from "./context.ts";
import { findSource, foreignCheckpoint } from "./find-source.ts";
import { checkpointMessages } from "./read-checkpoint.ts";
import { readSidecar, withFile } from "./read-file.ts";
import { type LogReplay, type Replayed, replayLog } from "./replay-log.ts";

type Messages = readonly TranscriptMessage[];

/** Loads a transcript whole: from its log, or from its checkpoint when there is no log of `ao`. */
export async function loadTranscript(
  context: TranscriptContext,
  paths: TranscriptPaths,
  budgets: TranscriptBudgets,
): Promise<LoadResult> {
  const replayed = await withFile(context.files, paths.log, (file): Promise<Replayed<Messages>> => {
    const place = ({ messages }: { readonly messages: Messages }) => messages;
    const { log: path, owner } = paths;
    return replayLog(file, { path, owner, sha256: context.sha256, budgets, place });
  });
  if (replayed?.kind === "refused" && replayed.refusal.reason !== "foreign") return replayed;
  const replay = replayed?.kind === "replayed" ? replayed.replay : undefined;
  const source = await findSource(context, paths, headOf(replay));
  if (replay !== undefined && source.kind === "log") return loadedFrom(replay, source.lost);
  const fallback = await loadBeside(context, paths, { source, budgets });
  return fallback.kind === "missing" && replayed?.kind === "refused"
    ? replayed
    : withDamage(fallback, replay);
}

function headOf(replay: LogReplay<Messages> | undefined): TranscriptHead | null {
  return replay !== undefined && replay.records > 0 ? replay.chain.head() : null;
}

async function loadBeside(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { source, budgets }: { readonly source: Source; readonly budgets: TranscriptBudgets },
): Promise<LoadResult> {
  return source.kind === "foreign"
    ? foreignCheckpoint(paths)
    : loadCheckpoint(context, paths, { budgets, lost: source.lost });
}

function loadedFrom({ chain, damage }: LogReplay<Messages>, lost: number): LoadResult {
  const messages = chain.spans().flatMap(({ place, count }) => place.slice(0, count));
  return { kind: "loaded", from: "log", head: chain.head(), messages, gaps: chain.gaps(), damage, lost };
}

function withDamage(result: LoadResult, replay: LogReplay<Messages> | undefined): LoadResult {
  return result.kind === "loaded" && replay ? { ...result, damage: replay.damage } : result;
}

async function loadCheckpoint(
  context: TranscriptContext,
  paths: TranscriptPaths,
  {
    budgets: { maxBytes, maxMessages },
    lost,
  }: { readonly budgets: TranscriptBudgets; readonly lost: number },
): Promise<LoadResult> {
  const { files, sha256 } = context;
  const path = paths.checkpoint;
  const loaded = await withFile(files, path, async (file): Promise<LoadResult | undefined> => {
    const over = { kind: "refused", refusal: { reason: "over_budget", path } } as const;
    if (file.sizeBytes > maxBytes) {
      return { ...over, refusal: { ...over.refusal, budget: "maxBytes", limit: maxBytes } };
    }
    const messages: TranscriptMessage[] = [];
    for await (const message of checkpointMessages(file)) {
      messages.push(message);
      if (messages.length > maxMessages) {
        return { ...over, refusal: { ...over.refusal, budget: "maxMessages", limit: maxMessages } };
      }
    }
    if (messages.length === 0) return undefined;
    const digest = digestsAfter(sha256, EMPTY_DIGEST, messages.map(canonicalJson)).at(-1) ?? EMPTY_DIGEST;
    const head = { count: messages.length, digest, revision: 0, rewrites: 0 };
    return { kind: "loaded", from: "checkpoint", head, messages, gaps: [], damage: [], lost };
  });
  return loaded ?? readMissing(context, paths);
}

/** Nothing is there; the ledger tells whether something was. */
export async function readMissing(
  { files }: TranscriptContext,
  { ledger, owner }: TranscriptPaths,
): Promise<Missing> {
  const parsed = parseLedger(await readSidecar(files, ledger), owner);
  const committed = parsed.kind === "ledger" ? parsed.ledger.committed : null;
  return { kind: "missing", wasCommitted: (committed?.count ?? 0) > 0 };
}
