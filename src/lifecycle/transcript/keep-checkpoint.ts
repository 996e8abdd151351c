import type { CheckpointContent } from "../../domain/transcript/decide-source.ts";
import type { TranscriptLedger, TranscriptPrefix } from "../../domain/transcript/ledger.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { TranscriptContext } from "./context.ts";
import { replayPlaces } from "./open-log.ts";
import { readableLines, readCheckpoint } from "./read-checkpoint.ts";
import { withFile } from "./read-file.ts";
import { salvageFile } from "./salvage.ts";

/**
 * Keeps in the salvage a checkpoint that is about to be written anew, when it may hold what nothing else does: it
 * is neither what was on record before, nor what the log holds or held.
 *
 * @param ledger as it was before the change.
 * @returns how many bytes were kept.
 */
export async function keepCheckpoint(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { committed }: TranscriptLedger,
): Promise<number> {
  const held = await readCheckpoint(context, paths);
  if (held === undefined) return 0;
  const readable = held.isDamaged ? await readableLines(context, paths) : held.count;
  if (readable === 0) return 0;
  const isOnRecord = committed?.digest === held.digest && committed.count === held.count;
  const isKnown = readable === held.count && (isOnRecord || (await isInLog(context, paths, held)));
  if (isKnown || (held.isDamaged && (await logHolds(context, paths, held, readable)))) return 0;
  return salvageFile(context, paths, { path: paths.checkpoint, from: 0 });
}

/** Whether a log says these messages, or said them before a record that replaced them. */
async function isInLog(
  context: TranscriptContext,
  paths: TranscriptPaths,
  held: TranscriptPrefix,
): Promise<boolean> {
  let isFound = held.count === 0;
  await withFile(context.files, paths.log, (file) =>
    replayPlaces(context, paths, file, (chain) => {
      isFound ||= chain.digestAt(held.count) === held.digest;
      return isFound;
    }),
  );
  return isFound;
}

/** Whether a log goes on from the beginning of a damaged checkpoint with at least as many messages as that has. */
async function logHolds(
  context: TranscriptContext,
  paths: TranscriptPaths,
  held: CheckpointContent,
  readable: number,
): Promise<boolean> {
  const found = await withFile(context.files, paths.log, async (file) => {
    const replayed = await replayPlaces(context, paths, file);
    if (replayed.kind === "refused") return false;
    const { chain } = replayed.replay;
    const isWhole = chain.gaps().length === 0;
    return isWhole && chain.digestAt(held.count) === held.digest && chain.head().count >= readable;
  });
  return found ?? false;
}
