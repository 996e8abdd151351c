import type { SessionId } from "../../domain/ids.ts";
import type { RepairResult } from "../../ports/transcript-results.ts";
import type { SessionDeps } from "../deps.ts";
import { requireSession } from "../session-refs.ts";
import { refusalError, transcriptRef } from "./transcript-ref.ts";

/** What a repair of a transcript came to. */
export interface RepairOutcome {
  readonly id: SessionId;
  /** Of the transcript itself, or of the copy that is named. */
  readonly name: string;
  /** Where all that was ever cut off is kept; `null` when nothing was. */
  readonly salvage: { readonly path: string; readonly bytes: number } | null;
  readonly result: Exclude<RepairResult, { readonly kind: "refused" }>;
}

/**
 * Repairs the transcript of a session and its copies. What is cut off is in the salvage first.
 *
 * @throws AoError session_not_found, store_newer, transcript_damaged, operation_in_progress or data_dir_unusable
 */
export async function repairTranscript(
  deps: Pick<SessionDeps, "store" | "transcripts" | "dataDir">,
  id: SessionId,
): Promise<readonly RepairOutcome[]> {
  const ref = transcriptRef(deps, requireSession(deps, id));
  const outcomes: RepairOutcome[] = [];
  for (const one of [ref, ...(await deps.transcripts.copies(ref))]) {
    const result = await deps.transcripts.repair(one);
    if (result.kind === "refused") throw refusalError(id, result.refusal);
    outcomes.push({ id, name: one.name, result, salvage: await deps.transcripts.salvage(one) });
  }
  return outcomes;
}
