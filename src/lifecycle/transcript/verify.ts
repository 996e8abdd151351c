import { EMPTY_HEAD, type TranscriptHead } from "../../domain/transcript/chain.ts";
import { parseEventIndex } from "../../domain/transcript/event-index.ts";
import { type ParsedLedger, parseLedger } from "../../domain/transcript/ledger.ts";
import { copyNames, type TranscriptPaths } from "../../domain/transcript/names.ts";
import type { Health, TranscriptReport } from "../../ports/transcript-store.ts";
import type { TranscriptContext } from "./context.ts";
import { type LinePlace, replayPlaces } from "./open-log.ts";
import { type CheckpointContent, readCheckpoint } from "./read-checkpoint.ts";
import { readSidecar, sizeOf, withFile } from "./read-file.ts";
import type { LogReplay, Replayed } from "./replay-log.ts";

/** Reads every file of a transcript, a record at a time, and changes nothing. */
export async function verifyTranscript(
  context: TranscriptContext,
  paths: TranscriptPaths,
): Promise<TranscriptReport> {
  const { files } = context;
  const replayed = await withFile(files, paths.log, (file) => replayPlaces(context, paths, file));
  const replay = replayed?.kind === "replayed" ? replayed.replay : undefined;
  const held = await readCheckpoint(context, paths);
  const ledger = parseLedger(await readSidecar(files, paths.ledger));
  const index = parseEventIndex(await readSidecar(files, paths.index));
  const head = headOf(replay, held);
  const logBytes = replay?.sizeBytes ?? (await sizeOf(files, paths.log));
  const found: Omit<TranscriptReport, "health"> = {
    ref: { folder: paths.folder, name: paths.name },
    log: {
      ...{ bytes: logBytes, records: replay?.records ?? 0 },
      ...{ damage: replay?.damage ?? [], gaps: replay?.chain.gaps() ?? [] },
    },
    head,
    savedAtMs: replay?.savedAtMs ?? null,
    checkpoint: checkpointState(held, replay),
    ledger: ledgerState(ledger, head),
    index: index?.logBytes === logBytes && index.digest === head.digest ? "current" : "missing",
    inFlight: ledger.kind === "ledger" ? ledger.ledger.inFlight : null,
    salvageBytes: await sizeOf(files, paths.salvage),
    copies: copyNames(paths, await files.list(paths.folder)),
  };
  return { ...found, health: healthOf(found, replayed) };
}

function headOf(replay: LogReplay<LinePlace> | undefined, held: CheckpointContent | undefined) {
  if (replay !== undefined && replay.records > 0) return replay.chain.head();
  const { count, digest } = held ?? EMPTY_HEAD;
  return { ...EMPTY_HEAD, count, digest };
}

function checkpointState(
  held: CheckpointContent | undefined,
  replay: LogReplay<LinePlace> | undefined,
): TranscriptReport["checkpoint"] {
  if (held === undefined) return "missing";
  if (held.isDamaged) return "damaged";
  if (replay === undefined || replay.records === 0) return "current";
  const { chain } = replay;
  const { count, digest } = chain.head();
  if (held.digest === digest && held.count === count) return "current";
  const isBehind = chain.digestAt(held.count) === held.digest || chain.gaps().length > 0;
  return isBehind ? "behind" : "damaged";
}

function ledgerState(parsed: ParsedLedger, head: TranscriptHead): TranscriptReport["ledger"] {
  if (parsed.kind !== "ledger") return parsed.kind === "absent" ? "missing" : parsed.kind;
  const { committed } = parsed.ledger;
  if (committed?.digest === head.digest && committed.count === head.count) return "current";
  return committed !== null && committed.revision > head.revision ? "ahead" : "behind";
}

function healthOf(
  found: Omit<TranscriptReport, "health">,
  replayed: Replayed<LinePlace> | undefined,
): Health {
  if (replayed?.kind === "refused") return replayed.refusal.reason;
  const { log, head, checkpoint, ledger, index } = found;
  if (ledger === "newer") return ledger;
  if (log.damage.length > 0 || log.gaps.length > 0) return "damaged";
  // What was acknowledged and is not there is lost, however whole the rest looks.
  if (ledger === "ahead") return head.count > 0 ? "damaged" : "removed";
  if (log.records === 0) return missingLog(checkpoint);
  const isSettled = checkpoint === "current" && ledger === "current" && index === "current";
  return isSettled ? "healthy" : "stale";
}

function missingLog(checkpoint: TranscriptReport["checkpoint"]): Health {
  if (checkpoint === "missing") return "missing";
  return checkpoint === "damaged" ? "damaged" : "stale";
}
