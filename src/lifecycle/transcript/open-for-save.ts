import type { TranscriptRefusal } from "../../domain/transcript/budgets.ts";
import { EMPTY_HEAD } from "../../domain/transcript/chain.ts";
import { EMPTY_LEDGER, parseLedger, type TranscriptLedger } from "../../domain/transcript/ledger.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { TranscriptContext } from "./context.ts";
import { committedOf, foreignCheckpoint, sourceOf } from "./find-source.ts";
import { type OpenLog, openLog } from "./open-log.ts";
import { checkpointMessages } from "./read-checkpoint.ts";
import { readSidecar, withFile } from "./read-file.ts";
import { salvageFrom } from "./salvage.ts";
import { writeLedger } from "./sidecars.ts";
import { rewriteLog } from "./write-log.ts";

/** A transcript that its lock is held of, ready to be changed. */
export interface OpenTranscript {
  readonly kind: "open";
  readonly log: OpenLog;
  readonly ledger: TranscriptLedger;
  /** Messages that the ledger has on record and no file holds. */
  readonly lost: number;
  /** Bytes of the log that went to the salvage when it was opened. */
  readonly salvagedBytes: number;
}

export type OpenedTranscript =
  | OpenTranscript
  | { readonly kind: "refused"; readonly refusal: TranscriptRefusal };

/**
 * Opens a transcript for a change. One whose messages only its checkpoint holds gets a log of them first; what the
 * log lost is taken back from there when the ledger proves it.
 */
export async function openForSave(
  context: TranscriptContext,
  paths: TranscriptPaths,
): Promise<OpenedTranscript> {
  const parsed = parseLedger(await readSidecar(context.files, paths.ledger), paths.owner);
  if (parsed.kind === "newer") return { kind: "refused", refusal: { reason: "newer", path: paths.ledger } };
  const opened = await openLog(context, paths);
  if (opened.kind === "refused") return opened;
  const { log } = opened;
  const ledger = parsed.kind === "ledger" ? parsed.ledger : EMPTY_LEDGER;
  const head = hasLog(log) ? log.head : null;
  const source = await sourceOf(context, paths, { head, committed: committedOf(parsed) });
  if (source.kind === "foreign") return foreignCheckpoint(paths);
  const open: OpenTranscript = { kind: "open", log, ledger, lost: source.lost, salvagedBytes: 0 };
  return source.kind === "checkpoint" ? logFromCheckpoint(context, paths, open) : open;
}

/** Whether a log holds anything at all. */
export function hasLog({ head }: OpenLog): boolean {
  return head.revision > 0;
}

/** Takes the next revision, so that a number is never given to two saves, even when this one comes to nothing. */
export async function reserveRevision(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { log, ledger }: OpenTranscript,
): Promise<TranscriptLedger> {
  const revision = Math.max(ledger.revision, log.head.revision) + 1;
  const reserved = { ...ledger, revision, writer: context.writer };
  await writeLedger(context, paths, reserved);
  return reserved;
}

/** All of the old log is in the salvage before a new one of the same messages as the checkpoint takes its place. */
async function logFromCheckpoint(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
): Promise<OpenTranscript> {
  const { files, clock, writer } = context;
  const made = await withFile(files, paths.checkpoint, async (file) => {
    const salvagedBytes = open.log.sizeBytes === 0 ? 0 : await salvageFrom(context, paths, 0);
    const ledger = await reserveRevision(context, paths, open);
    const reason = hasLog(open.log) ? "recover" : "seed";
    const stamp = { writer, reason, atMs: clock.nowMs(), owner: paths.owner };
    const { revision, rewrites } = open.log.head;
    const base = { ...EMPTY_HEAD, revision, rewrites };
    const plan = { base, type: "replace", revision: ledger.revision, stamp } as const;
    const written = await rewriteLog(context, paths, plan, checkpointMessages(file));
    return { ...open, ledger, salvagedBytes, log: { ...written, isVouched: false } };
  });
  return made ?? open;
}
