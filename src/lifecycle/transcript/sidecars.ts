import { errorMessage } from "../../domain/errors.ts";
import { encodeEventIndex } from "../../domain/transcript/event-index.ts";
import {
  EMPTY_LEDGER,
  encodeLedger,
  parseLedger,
  type TranscriptLedger,
} from "../../domain/transcript/ledger.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { SidecarWarning } from "../../ports/transcript-results.ts";
import { encode } from "./bytes.ts";
import { type CheckpointChange, writeCheckpoint } from "./checkpoint.ts";
import type { TranscriptContext } from "./context.ts";
import { readSidecar } from "./read-file.ts";
import { replaceFile, replaceLazily, writeAll } from "./write-file.ts";

/** The ledger to go on from; `newer` when a newer `ao` keeps it. What is none, or another's, is begun anew. */
export async function readLedger(
  { files }: TranscriptContext,
  { ledger, owner }: TranscriptPaths,
): Promise<TranscriptLedger | "newer"> {
  const parsed = parseLedger(await readSidecar(files, ledger), owner);
  if (parsed.kind === "newer") return "newer";
  return parsed.kind === "ledger" ? parsed.ledger : EMPTY_LEDGER;
}

/** Durable when it resolves. */
export async function writeLedger(
  { files }: TranscriptContext,
  { folder, ledger: path, owner }: TranscriptPaths,
  ledger: TranscriptLedger,
): Promise<void> {
  await replaceFile(files, { folder, path }, (out) => writeAll(out, encode(encodeLedger(ledger, owner))));
}

/**
 * Brings the files beside a log up to date: checkpoint, ledger, index, in this order. The log is durable
 * already, so that what fails here is a warning, and is done again at the next save.
 */
export async function settle(
  context: TranscriptContext,
  paths: TranscriptPaths,
  { log, ledger, appended }: CheckpointChange,
): Promise<readonly SidecarWarning[]> {
  const warnings: SidecarWarning[] = [];
  const tryTo = async <Result>(file: SidecarWarning["file"], work: () => Promise<Result>) => {
    try {
      return await work();
    } catch (error) {
      warnings.push({ file, cause: errorMessage(error) });
      return null;
    }
  };
  const checkpoint = await tryTo("checkpoint", () =>
    writeCheckpoint(context, paths, { log, ledger, appended }),
  );
  const { count, digest, revision } = log.head;
  const committed = { count, digest, revision };
  const next = {
    ...ledger,
    committed,
    revision: Math.max(ledger.revision, revision),
    writer: context.writer,
  };
  if (!isSameLedger(ledger, next)) await tryTo("ledger", () => writeLedger(context, paths, next));
  const { sizeBytes: logBytes, lastRecordOffset, isWhole } = log;
  const index = { logBytes, lastRecordOffset, revision, digest, isWhole, checkpoint };
  await tryTo("index", () => replaceLazily(context.files, paths.index, encodeEventIndex(index)));
  return warnings;
}

function isSameLedger(one: TranscriptLedger, other: TranscriptLedger): boolean {
  return one.committed?.digest === other.committed?.digest && one.revision === other.revision;
}
