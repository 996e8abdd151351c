import type { TranscriptRefusal } from "../../domain/transcript/budgets.ts";
import type { TranscriptLedger } from "../../domain/transcript/ledger.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { TranscriptContext } from "./context.ts";
import { type OpenLog, openLog } from "./open-log.ts";
import { checkpointMessages } from "./read-checkpoint.ts";
import { withFile } from "./read-file.ts";
import { cutTornTail } from "./salvage.ts";
import { readLedger, writeLedger } from "./sidecars.ts";
import { rewriteLog } from "./write-log.ts";

/** A transcript that its lock is held of, ready to be changed. */
export interface OpenTranscript {
  readonly kind: "open";
  readonly log: OpenLog;
  readonly ledger: TranscriptLedger;
}

export type OpenedTranscript =
  | OpenTranscript
  | { readonly kind: "refused"; readonly refusal: TranscriptRefusal };

/** Opens a transcript for a change. One that has a checkpoint alone gets a log of the same messages first. */
export async function openForSave(
  context: TranscriptContext,
  paths: TranscriptPaths,
): Promise<OpenedTranscript> {
  const ledger = await readLedger(context, paths);
  if (ledger === "newer") return { kind: "refused", refusal: { reason: "newer", path: paths.ledger } };
  const opened = await openLog(context, paths);
  if (opened.kind === "refused") return opened;
  const open: OpenTranscript = { kind: "open", log: opened.log, ledger };
  return hasLog(open.log) ? open : seedFromCheckpoint(context, paths, open);
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

async function seedFromCheckpoint(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
): Promise<OpenTranscript> {
  const { files, clock, writer } = context;
  const seeded = await withFile(files, paths.checkpoint, async (file) => {
    const messages = checkpointMessages(file);
    const first = await messages.next();
    if (first.done) return undefined;
    const { log } = await cutTornTail(context, paths, open.log);
    const ledger = await reserveRevision(context, paths, { ...open, log });
    const stamp = { writer, reason: "seed", atMs: clock.nowMs() };
    const plan = { base: log.head, type: "replace", revision: ledger.revision, stamp } as const;
    const written = await rewriteLog(context, paths, plan, restarted(first.value, messages));
    return { ...open, ledger, log: { ...written, isVouched: false } };
  });
  return seeded ?? open;
}

async function* restarted<Item>(first: Item, rest: AsyncIterable<Item>): AsyncGenerator<Item> {
  yield first;
  yield* rest;
}
