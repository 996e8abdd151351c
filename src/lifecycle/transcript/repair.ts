import { EMPTY_HEAD } from "../../domain/transcript/chain.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { OpenFile } from "../../ports/transcript-files.ts";
import type { RepairResult } from "../../ports/transcript-results.ts";
import { acknowledge, commit } from "./commit.ts";
import type { TranscriptContext } from "./context.ts";
import { keepCheckpoint } from "./keep-checkpoint.ts";
import { hasLog, type OpenedTranscript, type OpenTranscript, openForSave } from "./open-for-save.ts";
import { type LinePlace, replayPlaces } from "./open-log.ts";
import { checkpointMessages, readCheckpoint } from "./read-checkpoint.ts";
import { withFile } from "./read-file.ts";
import { firstOf, joined, messagesWithNotes } from "./read-messages.ts";
import type { LogReplay } from "./replay-log.ts";
import { cutTornTail, salvageFile, salvageFrom } from "./salvage.ts";
import { rewriteLog } from "./write-log.ts";

/** Sets a transcript right that its lock is held of. What is cut off is in the salvage before it is cut. */
export async function repairTranscript(
  context: TranscriptContext,
  paths: TranscriptPaths,
): Promise<RepairResult> {
  const opened = await openForRepair(context, paths);
  if (opened.kind === "refused") return opened;
  const { log, salvagedBytes: cutBytes } = await cutTornTail(context, paths, opened.log);
  const salvagedBytes = opened.salvagedBytes + cutBytes;
  const open = { ...opened, log, salvagedBytes };
  if (!hasLog(log)) return forget(context, paths, open);
  const repaired = await withFile(context.files, paths.log, async (file) => {
    const replayed = await replayPlaces(context, paths, file);
    if (replayed.kind === "refused") return replayed;
    const { damage, chain } = replayed.replay;
    const isWhole = damage.length === 0 && chain.gaps().length === 0;
    return isWhole ? undefined : rebuildLog(context, paths, { open, file, replay: replayed.replay });
  });
  return repaired ?? settleAll(context, paths, open);
}

/** Opens a transcript after files that are of another, or of none, went to the salvage. */
async function openForRepair(
  context: TranscriptContext,
  paths: TranscriptPaths,
  asideBytes = 0,
): Promise<OpenedTranscript> {
  const opened = await openForSave(context, paths);
  if (opened.kind === "open") return { ...opened, salvagedBytes: opened.salvagedBytes + asideBytes };
  const { reason, path } = opened.refusal;
  if (reason !== "foreign") return opened;
  const bytes = await salvageFile(context, paths, { path, from: 0 });
  await context.files.unlink(path);
  await context.files.fsyncFolder(paths.folder);
  return openForRepair(context, paths, asideBytes + bytes);
}

/** Without a log and a checkpoint there is nothing to repair but what would forbid a new beginning. */
async function forget(
  { files }: TranscriptContext,
  paths: TranscriptPaths,
  { ledger, log: { head }, salvagedBytes }: OpenTranscript,
): Promise<RepairResult> {
  const lostMessages = ledger.committed?.count ?? 0;
  if (lostMessages === 0) {
    return salvagedBytes === 0
      ? { kind: "missing", wasCommitted: false }
      : { kind: "repaired", head, salvagedBytes, lostMessages, warnings: [] };
  }
  for (const path of [paths.index, paths.checkpoint, paths.log, paths.ledger]) await files.unlink(path);
  await files.fsyncFolder(paths.folder);
  return salvagedBytes === 0
    ? { kind: "forgotten" }
    : { kind: "repaired", head, salvagedBytes, lostMessages, warnings: [] };
}

interface Rebuild {
  readonly open: OpenTranscript;
  readonly file: OpenFile;
  readonly replay: LogReplay<LinePlace>;
}

/** Writes the log anew: of the checkpoint as far as the log proves that, else of what its records prove. */
async function rebuildLog(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { open, file, replay }: Rebuild,
): Promise<RepairResult> {
  const { chain } = replay;
  const held = await readCheckpoint(context, paths);
  const isProven = held !== undefined && chain.digestAt(held.count) === held.digest;
  const from = isProven ? held.count : 0;
  const salvaged = await salvageFrom(context, paths, 0);
  const rest = () => messagesWithNotes(context, file, chain.spans(), { gaps: chain.gaps(), from });
  const saved = await commit(context, paths, open, {
    ...{ reason: "repair", appended: null },
    write: async ({ head: { revision, rewrites } }, stamped) => {
      const base = { ...EMPTY_HEAD, revision, rewrites };
      const plan = { base, type: "replace", ...stamped } as const;
      const write = (messages: AsyncIterable<TranscriptMessage>) =>
        rewriteLog(context, paths, plan, messages);
      const made = await withFile(context.files, paths.checkpoint, (checkpoint) =>
        write(joined(firstOf(checkpointMessages(checkpoint), from), rest())),
      );
      return made ?? write(rest());
    },
  });
  const gone = chain
    .gaps()
    .reduce((sum, { first, count }) => sum + Math.min(count, Math.max(0, first + count - from)), 0);
  const { head, warnings } = saved;
  return {
    ...{ kind: "repaired", head, warnings, lostMessages: gone + open.lost },
    salvagedBytes: open.salvagedBytes + salvaged,
  };
}

/** Brings the files beside a whole log up to date; a checkpoint is looked at, and not only measured. */
async function settleAll(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
): Promise<RepairResult> {
  const { salvagedBytes, lost: lostMessages } = open;
  const held = await readCheckpoint(context, paths);
  const isCurrent = held?.digest === open.log.head.digest && !held.isDamaged;
  const keptBytes = isCurrent ? 0 : await keepCheckpoint(context, paths, open.ledger);
  const log = isCurrent ? open.log : { ...open.log, checkpoint: null };
  const settled = await acknowledge(context, paths, { ...open, log });
  const isSame = salvagedBytes === 0 && isCurrent && open.log.isVouched;
  if (isSame && settled.kind === "unchanged") return settled;
  const { head, warnings } = settled;
  return { kind: "repaired", head, salvagedBytes: salvagedBytes + keptBytes, lostMessages, warnings };
}
