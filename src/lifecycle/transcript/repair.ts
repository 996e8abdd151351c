import { EMPTY_HEAD } from "../../domain/transcript/chain.ts";
import type { TranscriptMessage } from "../../domain/transcript/message.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { OpenFile } from "../../ports/transcript-files.ts";
import type { RepairResult } from "../../ports/transcript-store.ts";
import { acknowledge, commit } from "./commit.ts";
import type { TranscriptContext } from "./context.ts";
import { hasLog, type OpenTranscript, openForSave } from "./open-for-save.ts";
import { type LinePlace, replayPlaces } from "./open-log.ts";
import { checkpointMessages, readCheckpoint } from "./read-checkpoint.ts";
import { withFile } from "./read-file.ts";
import { messagesWithNotes } from "./read-messages.ts";
import type { LogReplay } from "./replay-log.ts";
import { cutTornTail, salvageFrom } from "./salvage.ts";
import { rewriteLog } from "./write-log.ts";

/** Sets a transcript right that its lock is held of. What is cut off is in the salvage before it is cut. */
export async function repairTranscript(
  context: TranscriptContext,
  paths: TranscriptPaths,
): Promise<RepairResult> {
  const opened = await openForSave(context, paths);
  if (opened.kind === "refused") return opened;
  const { log, salvagedBytes } = await cutTornTail(context, paths, opened.log);
  const open = { ...opened, log };
  if (!hasLog(log)) return forget(context, paths, open, salvagedBytes);
  const repaired = await withFile(context.files, paths.log, async (file) => {
    const replayed = await replayPlaces(context, paths, file);
    if (replayed.kind === "refused") return replayed;
    const { damage, chain } = replayed.replay;
    const isWhole = damage.length === 0 && chain.gaps().length === 0;
    return isWhole
      ? undefined
      : rebuildLog(context, paths, { open, file, replay: replayed.replay, salvagedBytes });
  });
  return repaired ?? settleAll(context, paths, open, salvagedBytes);
}

/** Without a log and a checkpoint there is nothing to repair but what would forbid a new beginning. */
async function forget(
  { files }: TranscriptContext,
  paths: TranscriptPaths,
  { ledger, log }: OpenTranscript,
  salvagedBytes: number,
): Promise<RepairResult> {
  if ((ledger.committed?.count ?? 0) === 0) {
    return salvagedBytes === 0
      ? { kind: "missing", wasCommitted: false }
      : { kind: "repaired", head: log.head, salvagedBytes, lostMessages: 0, warnings: [] };
  }
  for (const path of [paths.index, paths.checkpoint, paths.log, paths.ledger]) await files.unlink(path);
  await files.fsyncFolder(paths.folder);
  return { kind: "forgotten" };
}

interface Rebuild {
  readonly open: OpenTranscript;
  readonly file: OpenFile;
  readonly replay: LogReplay<LinePlace>;
  readonly salvagedBytes: number;
}

/** Writes the log anew, of what its records prove, or of the checkpoint when that holds all of it. */
async function rebuildLog(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { open, file, replay, salvagedBytes }: Rebuild,
): Promise<RepairResult> {
  const { chain } = replay;
  const { count, digest } = chain.head();
  const held = await readCheckpoint(context, paths);
  const isProven = held !== undefined && held.digest === digest && held.count === count;
  const salvaged = salvagedBytes + (await salvageFrom(context, paths, 0));
  const rebuild = (messages: AsyncIterable<TranscriptMessage>) =>
    commit(context, paths, open, {
      ...{ reason: "repair", appended: null },
      write: ({ head: { revision, rewrites } }, stamped) => {
        const base = { ...EMPTY_HEAD, revision, rewrites };
        return rewriteLog(context, paths, { base, type: "replace", ...stamped }, messages);
      },
    });
  const fromCheckpoint = isProven
    ? await withFile(context.files, paths.checkpoint, (checkpoint) => rebuild(checkpointMessages(checkpoint)))
    : undefined;
  const saved =
    fromCheckpoint ?? (await rebuild(messagesWithNotes(context, file, chain.spans(), chain.gaps())));
  const lost = chain.gaps().reduce((sum, gap) => sum + gap.count, 0);
  const lostMessages = fromCheckpoint === undefined ? lost : 0;
  const { head, warnings } = saved;
  return { kind: "repaired", head, warnings, lostMessages, salvagedBytes: salvaged };
}

/** Brings the files beside a whole log up to date; a checkpoint is looked at, and not only measured. */
async function settleAll(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
  salvagedBytes: number,
): Promise<RepairResult> {
  const { head } = open.log;
  const held = await readCheckpoint(context, paths);
  const isCurrent = held?.digest === head.digest && !held.isDamaged;
  const log = isCurrent ? open.log : { ...open.log, checkpoint: null };
  const settled = await acknowledge(context, paths, { ...open, log });
  const isSame = salvagedBytes === 0 && isCurrent && open.log.isVouched;
  return isSame
    ? settled
    : { kind: "repaired", head, salvagedBytes, lostMessages: 0, warnings: settled.warnings };
}
