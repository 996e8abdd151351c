import { EMPTY_HEAD, type TranscriptChain, type TranscriptHead } from "../../domain/transcript/chain.ts";
import { type CheckpointContent, decideSource, type Source } from "../../domain/transcript/decide-source.ts";
import { parseEventIndex } from "../../domain/transcript/event-index.ts";
import { type ParsedLedger, parseLedger } from "../../domain/transcript/ledger.ts";
import { copyNames, type TranscriptPaths } from "../../domain/transcript/names.ts";
import type { Health, TranscriptReport } from "../../ports/transcript-results.ts";
import type { TranscriptContext } from "./context.ts";
import { committedOf, withMessages } from "./find-source.ts";
import { type LinePlace, replayPlaces } from "./open-log.ts";
import { readCheckpoint } from "./read-checkpoint.ts";
import { readSidecar, sizeOf, withFile } from "./read-file.ts";
import type { LogReplay, Replayed } from "./replay-log.ts";

/** Reads every file of a transcript, a record at a time, and changes nothing. */
export async function verifyTranscript(
  context: TranscriptContext,
  paths: TranscriptPaths,
): Promise<TranscriptReport> {
  const { files } = context;
  const replayed = await withFile(files, paths.log, (file) => replayPlaces(context, paths, file));
  const ledger = parseLedger(await readSidecar(files, paths.ledger), paths.owner);
  const committed = ledger.kind === "ledger" ? ledger.ledger.committed : null;
  const held = await readCheckpoint(context, paths, committed?.count);
  const seen = { ledger, held, replay: recordsIn(replayed) };
  const index = parseEventIndex(await readSidecar(files, paths.index));
  const found: Omit<TranscriptReport, "health"> = {
    ref: { folder: paths.folder, name: paths.name },
    ...contentOf(seen),
    log: logOf(replayed, await sizeOf(files, paths.log)),
    index: "missing",
    inFlight: ledger.kind === "ledger" ? ledger.ledger.inFlight : null,
    salvageBytes: await sizeOf(files, paths.salvage),
    copies: copyNames(paths, await files.list(paths.folder)),
  };
  const isCurrent = index?.logBytes === found.log.bytes && index.digest === found.head.digest;
  const report = { ...found, index: isCurrent ? ("current" as const) : found.index };
  return { ...report, health: healthOf(report, replayed) };
}

interface Seen {
  readonly ledger: ParsedLedger;
  readonly held: CheckpointContent | undefined;
  /** `undefined` for a log without a record of this transcript. */
  readonly replay: LogReplay<LinePlace> | undefined;
}

function recordsIn(replayed: Replayed<LinePlace> | undefined): LogReplay<LinePlace> | undefined {
  const replay = replayed?.kind === "replayed" ? replayed.replay : undefined;
  return replay !== undefined && replay.records > 0 ? replay : undefined;
}

/** What the files say together. */
function contentOf(seen: Seen) {
  const { ledger, held, replay } = seen;
  const logHead = replay?.chain.head() ?? null;
  const committed = committedOf(ledger);
  const source = decideSource({ head: logHead, committed, held: withMessages(held) });
  const head = headOf(source, logHead, held);
  const known = committed === "foreign" || committed === null ? 0 : committed.count;
  return {
    ...{ head, savedAtMs: replay?.savedAtMs ?? null },
    checkpoint: checkpointState(source, seen),
    ledger: ledgerState(ledger, logHead ?? head),
    lost: source.kind === "foreign" ? known : source.lost,
  };
}

function logOf(replayed: Replayed<LinePlace> | undefined, bytes: number): TranscriptReport["log"] {
  if (replayed?.kind !== "replayed") return { bytes, records: 0, damage: [], gaps: [] };
  const { sizeBytes, records, damage, chain } = replayed.replay;
  return { bytes: sizeBytes, records, damage, gaps: chain.gaps() };
}

function headOf(source: Source, log: TranscriptHead | null, held: CheckpointContent | undefined) {
  if (log !== null && source.kind !== "checkpoint") return log;
  if (source.kind === "foreign") return EMPTY_HEAD;
  const { count, digest } = held ?? EMPTY_HEAD;
  return { ...EMPTY_HEAD, count, digest };
}

function checkpointState(
  source: Source,
  { held, replay }: Omit<Seen, "ledger">,
): TranscriptReport["checkpoint"] {
  if (held === undefined) return "missing";
  if (source.kind === "foreign") return "foreign";
  if (source.kind === "checkpoint" && replay !== undefined) return "ahead";
  if (held.isDamaged) return "damaged";
  return replay === undefined ? "current" : againstLog(held, replay.chain);
}

function againstLog(
  held: CheckpointContent,
  chain: TranscriptChain<LinePlace>,
): TranscriptReport["checkpoint"] {
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
  const { log, head, checkpoint, ledger } = found;
  if (ledger === "newer") return ledger;
  if (checkpoint === "foreign") return checkpoint;
  if (log.damage.length > 0 || log.gaps.length > 0) return "damaged";
  // What was acknowledged and is not there is lost, however whole the rest looks.
  if (ledger === "ahead") return head.count > 0 ? "damaged" : "removed";
  return log.records === 0 ? missingLog(found) : settledHealth(found);
}

function settledHealth({ checkpoint, ledger, index }: Omit<TranscriptReport, "health">): Health {
  const isSettled = checkpoint === "current" && ledger === "current" && index === "current";
  return isSettled ? "healthy" : "stale";
}

function missingLog({ checkpoint, lost }: Omit<TranscriptReport, "health">): Health {
  if (lost > 0) return "damaged";
  if (checkpoint === "missing") return "missing";
  return checkpoint === "damaged" ? "damaged" : "stale";
}
