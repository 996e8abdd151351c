import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { RecordStamp } from "../../domain/transcript/record-builder.ts";
import type { Saved, Unchanged } from "../../ports/transcript-store.ts";
import { isCheckpointCurrent } from "./checkpoint.ts";
import type { TranscriptContext } from "./context.ts";
import { type OpenTranscript, reserveRevision } from "./open-for-save.ts";
import type { OpenLog } from "./open-log.ts";
import { cutTornTail } from "./salvage.ts";
import { settle } from "./sidecars.ts";
import { withWriter } from "./write-file.ts";

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
 * index. It is durable once the log is.
 */
export async function commit(
  context: TranscriptContext,
  paths: TranscriptPaths,
  open: OpenTranscript,
  { reason, write, appended }: Change,
): Promise<Saved> {
  const { log, salvagedBytes } = await cutTornTail(context, paths, open.log);
  const ledger = await reserveRevision(context, paths, { ...open, log });
  const stamp = { writer: context.writer, reason, atMs: context.clock.nowMs() };
  const written = await write(log, { revision: ledger.revision, stamp });
  const warnings = await settle(context, paths, { log: written, ledger, appended });
  return { kind: "saved", head: written.head, salvagedBytes, warnings };
}

/**
 * Acknowledges what is on disk already. When nothing vouches for it, it is made durable first: it may have
 * been read from memory that a power cut would take. Writes nothing else unless a file beside the log lags.
 */
export async function acknowledge(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { log, ledger }: OpenTranscript,
): Promise<Unchanged> {
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
