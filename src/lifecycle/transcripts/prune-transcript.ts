import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { PrunedTranscript } from "../../ports/transcript-results.ts";
import type { SessionDeps } from "../deps.ts";
import { releaseParts } from "../forks/inherited-parts.ts";
import { lifecycleManager } from "../lifecycle-manager.ts";
import { operationInProgress } from "../operations/operation-errors.ts";
import { unfinishedOf } from "../operations/prepare-operation.ts";
import { requireSession } from "../session-refs.ts";
import { transcriptRef } from "./transcript-ref.ts";
import { transcriptTrash } from "./transcript-trash.ts";

/** How long what was pruned stays in the trash, in milliseconds. */
const GRACE_MS = 14 * 24 * 60 * 60 * 1000;

export interface PruneOutcome extends PrunedTranscript {
  readonly id: SessionId;
}

type Deps = Pick<SessionDeps, "store" | "transcripts" | "dataDir" | "clock">;

type PruneDeps = Deps & Pick<SessionDeps, "changes" | "ids" | "locks" | "operations">;

/**
 * Moves the transcript of a session that is over into the trash, and writes that down. What a fork has from before it
 * goes with the last session that has it.
 *
 * @throws AoError session_not_found, operation_in_progress or data_dir_unusable
 * @throws AoError busy while the session is not over: its conversation goes on; operation_in_progress while it is
 *   restored. Asked once more when nobody else can write to the transcript any more, right before it is moved.
 */
export async function pruneTranscript(deps: PruneDeps, id: SessionId): Promise<PruneOutcome> {
  const record = requireOver(deps, id);
  const mayGo = () => void requireOver(deps, id);
  const pruned = await deps.transcripts.prune(transcriptRef(deps, record), transcriptTrash(deps), mayGo);
  const parts = record.metadata.fork?.inherits ?? [];
  if (parts.length > 0) {
    lifecycleManager(deps).onTranscriptPruned(id);
    await releaseParts(deps, record.projectId, { parts, except: id });
  }
  return { id, ...pruned };
}

function requireOver(deps: PruneDeps, id: SessionId): SessionRecord {
  const record = requireSession(deps, id);
  if (!isTerminal(record.lifecycle)) {
    throw new AoError("busy", `${id} is not over, and its transcript goes on`, { hint: `ao kill ${id}` });
  }
  const holder = unfinishedOf(deps, id);
  if (holder?.kind === "restore") throw operationInProgress(holder);
  return record;
}

/** Deletes what was pruned longer ago than the time of grace. @returns the names it had in the trash. */
export function emptyTranscriptTrash(deps: Deps): Promise<readonly string[]> {
  return deps.transcripts.emptyTrash(transcriptTrash(deps), deps.clock.nowMs() - GRACE_MS);
}
