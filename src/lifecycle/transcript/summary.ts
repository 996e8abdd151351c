import type { TranscriptPrefix } from "../../domain/transcript/ledger.ts";
import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { Missing, Refused, TranscriptSummary } from "../../ports/transcript-results.ts";
import type { TranscriptContext } from "./context.ts";
import { findSource, foreignCheckpoint, withMessages } from "./find-source.ts";
import { readMissing } from "./load.ts";
import { hasLog } from "./open-for-save.ts";
import { type OpenedLog, type OpenLog, openLog } from "./open-log.ts";
import { readCheckpoint } from "./read-checkpoint.ts";

/** What is on disk, without its messages. */
export async function summarize(
  context: TranscriptContext,
  paths: TranscriptPaths,
): Promise<TranscriptSummary | Missing | Refused> {
  const opened = await openLog(context, paths);
  if (opened.kind === "refused" && opened.refusal.reason !== "foreign") return opened;
  const log = logIn(opened);
  const source = await findSource(context, paths, log?.head ?? null);
  if (source.kind === "foreign") return foreignCheckpoint(paths);
  if (log !== undefined && source.kind === "log") return ofLog(log, source.lost);
  const held = withMessages(await readCheckpoint(context, paths));
  if (held !== null) return ofCheckpoint(held, healthBeside(opened, source.lost));
  return opened.kind === "refused" ? opened : readMissing(context, paths);
}

/** Of a transcript that is read from its checkpoint. */
function healthBeside(opened: OpenedLog, lost: number): TranscriptSummary["health"] {
  const isLogMissing = opened.kind === "open" && logIn(opened) === undefined;
  return isLogMissing && lost === 0 ? "stale" : "damaged";
}

function logIn(opened: OpenedLog): OpenLog | undefined {
  return opened.kind === "open" && hasLog(opened.log) ? opened.log : undefined;
}

function ofLog(log: OpenLog, lost: number): TranscriptSummary {
  const { head, savedAtMs } = log;
  return { kind: "summary", head, savedAtMs, health: lost > 0 ? "damaged" : healthOf(log) };
}

function ofCheckpoint(
  { count, digest }: TranscriptPrefix,
  health: TranscriptSummary["health"],
): TranscriptSummary {
  const head = { count, digest, revision: 0, rewrites: 0 };
  return { kind: "summary", head, savedAtMs: null, health };
}

function healthOf({ isWhole, sizeBytes, endBytes, isVouched }: OpenLog): TranscriptSummary["health"] {
  if (!isWhole || sizeBytes > endBytes) return "damaged";
  return isVouched ? "healthy" : "stale";
}
