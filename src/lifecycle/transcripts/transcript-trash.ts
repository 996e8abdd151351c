import { dataLayout } from "../../domain/data-layout.ts";
import type { Trash } from "../../ports/transcript-results.ts";
import type { SessionDeps } from "../deps.ts";

/** Where pruned transcripts go. */
export function transcriptTrash({ dataDir }: Pick<SessionDeps, "dataDir">): Trash {
  const { prunedTranscripts, transcripts } = dataLayout(dataDir);
  return { folder: prunedTranscripts, audit: `${transcripts}/audit.jsonl` };
}
