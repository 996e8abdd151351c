import type { TranscriptPaths } from "../../domain/transcript/names.ts";
import type { Missing, Refused, TranscriptSummary } from "../../ports/transcript-store.ts";
import type { TranscriptContext } from "./context.ts";
import { readMissing } from "./load.ts";
import { hasLog } from "./open-for-save.ts";
import { type OpenLog, openLog } from "./open-log.ts";
import { readCheckpoint } from "./read-checkpoint.ts";

/** What is on disk, without its messages. */
export async function summarize(
  context: TranscriptContext,
  paths: TranscriptPaths,
): Promise<TranscriptSummary | Missing | Refused> {
  const opened = await openLog(context, paths);
  const isForeign = opened.kind === "refused" && opened.refusal.reason === "foreign";
  if (opened.kind === "refused" && !isForeign) return opened;
  if (opened.kind === "open" && hasLog(opened.log)) {
    const { head, savedAtMs } = opened.log;
    return { kind: "summary", head, savedAtMs, health: healthOf(opened.log) };
  }
  const held = await readCheckpoint(context, paths);
  if (held !== undefined && held.count > 0) {
    const { count, digest } = held;
    const head = { count, digest, revision: 0, rewrites: 0 };
    return { kind: "summary", head, savedAtMs: null, health: "stale" };
  }
  return opened.kind === "refused" ? opened : readMissing(context, paths);
}

function healthOf({ isWhole, sizeBytes, endBytes, isVouched }: OpenLog): TranscriptSummary["health"] {
  if (!isWhole || sizeBytes > endBytes) return "damaged";
  return isVouched ? "healthy" : "stale";
}
