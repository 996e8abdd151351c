import { dataLayout } from "../../domain/data-layout.ts";
import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { PrunedTranscript, Trash } from "../../ports/transcript-store.ts";
import type { SessionDeps } from "../deps.ts";
import { requireSession } from "../session-refs.ts";
import { transcriptRef } from "./transcript-ref.ts";

/** How long what was pruned stays in the trash, in milliseconds. */
const GRACE_MS = 14 * 24 * 60 * 60 * 1000;

export interface PruneOutcome extends PrunedTranscript {
  readonly id: SessionId;
}

type Deps = Pick<SessionDeps, "store" | "transcripts" | "dataDir" | "clock">;

/** Where pruned transcripts go. */
export function transcriptTrash({ dataDir }: Pick<SessionDeps, "dataDir">): Trash {
  const { prunedTranscripts, transcripts } = dataLayout(dataDir);
  return { folder: prunedTranscripts, audit: `${transcripts}/audit.jsonl` };
}

/**
 * Moves the transcript of a session that is over into the trash, and writes that down.
 *
 * @throws AoError session_not_found, operation_in_progress or data_dir_unusable
 * @throws AoError busy while the session is not over: its conversation goes on.
 */
export async function pruneTranscript(deps: Deps, id: SessionId): Promise<PruneOutcome> {
  const record = requireSession(deps, id);
  if (!isTerminal(record.lifecycle)) {
    throw new AoError("busy", `${id} is not over, and its transcript goes on`, { hint: `ao kill ${id}` });
  }
  return { id, ...(await deps.transcripts.prune(transcriptRef(deps, record), transcriptTrash(deps))) };
}

/** Deletes what was pruned longer ago than the time of grace. @returns the names it had in the trash. */
export function emptyTranscriptTrash(deps: Deps): Promise<readonly string[]> {
  return deps.transcripts.emptyTrash(transcriptTrash(deps), deps.clock.nowMs() - GRACE_MS);
}
