import { canonicalJson } from "../../domain/canonical-json.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { RecordStamp } from "../../domain/transcript/record-builder.ts";
import type { Saved, Unchanged } from "../../ports/transcript-results.ts";
import { isCheckpointCurrent } from "./checkpoint.ts";
import type { TranscriptContext } from "./context.ts";
import { type OpenTranscript, reserveRevision } from "./open-for-save.ts";
import type { OpenLog } from "./open-log.ts";
import { gapNote } from "./read-messages.ts";
import { cutTornTail } from "./salvage.ts";
import { settle } from "./sidecars.ts";
import { withWriter } from "./write-file.ts";
import { appendRecords, recordsOf } from "./write-log.ts";

/** One change of a log. */
export interface Change {
  /** One word for the log. */
  readonly reason: string;
  /** Writes it, durably, and returns the log after it. The log it gets has no torn tail. */
  readonly write: (
    log: OpenLog,
    stamped: { readonly revision: number; readonly stamp: RecordStamp },
  ) => Promise<OpenLog>;
  /** The messages that it adds to the end, as canonical JSON; `null` when it does more than that. */
  readonly appended: readonly string[] | null;
}

/**
 * Carries a change out in the order that a crash at any moment forgives: revision, log, checkpoint, ledger,
 * index. It is durable once the log is. What was lost before is told of by a message of `ao`.
 */
export async function commit(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
  { reason, write, appended }: Change,
): Promise<Saved> {
  const { log, salvagedBytes } = await cutTornTail(context, paths, open.log);
  const ledger = await reserveRevision(context, paths, { ...open, log });
  const stamp = { writer: context.writer, reason, atMs: context.clock.nowMs(), owner: paths.owner };
  const { revision } = ledger;
  const note = { count: open.lost, stamp };
  const isLast = appended === null;
  const before = isLast ? log : await noteLost(context, paths, log, { ...note, revision });
  const next = Math.max(revision, before.head.revision + 1);
  const changed = await write(before, { revision: next, stamp });
  const after = { ...note, revision: changed.head.revision + 1 };
  const written = isLast ? await noteLost(context, paths, changed, after) : changed;
  const all = open.lost === 0 ? appended : null;
  const warnings = await settle(context, paths, { log: written, ledger, appended: all });
  return { kind: "saved", head: written.head, salvagedBytes: open.salvagedBytes + salvagedBytes, warnings };
}

async function noteLost(
  context: TranscriptContext,
  paths: TranscriptPaths,
  log: OpenLog,
  lost: { readonly count: number; readonly revision: number; readonly stamp: RecordStamp },
): Promise<OpenLog> {
  const { count, revision, stamp } = lost;
  if (count === 0) return log;
  const plan = { base: log.head, type: "append", revision, stamp } as const;
  return appendRecords(context, paths, log, recordsOf(context, plan, [canonicalJson(gapNote({ count }))]));
}

/**
 * Acknowledges what is on disk already. When nothing vouches for it, it is made durable first: it may have
 * been read from memory that a power cut would take. Writes nothing else unless a file beside the log lags.
 */
export async function acknowledge(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
): Promise<Saved | Unchanged> {
  const { log, ledger } = open;
  if (open.lost > 0) {
    return commit(context, paths, open, { reason: "lost", appended: [], write: async (same) => same });
  }
  if (!log.isVouched) {
    await withWriter(context.files.append(paths.log), (out) => out.fsync());
    await context.files.fsyncFolder(paths.folder);
  }
  const isSettled =
    log.isVouched &&
    ledger.committed?.digest === log.head.digest &&
    (await isCheckpointCurrent(context, paths, log.checkpoint));
  const warnings = isSettled ? [] : await settle(context, paths, { log, ledger, appended: [] });
  return { kind: "unchanged", head: log.head, warnings };
}
