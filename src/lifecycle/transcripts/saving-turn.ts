import type { TranscriptRef } from "../../domain/transcript/names.ts";
import type { RunningTurn } from "../../domain/transcript/running-turn.ts";
import type { FinalTranscript } from "../../ports/transcript-results.ts";
import type { TranscriptStore } from "../../ports/transcript-store.ts";
import type { SessionDeps } from "../deps.ts";

/** A save, and what is known of the turn that it ends with. */
export interface TurnSave {
  readonly ref: TranscriptRef;
  /** After the save: `null` when none runs, `undefined` when that is not known. */
  readonly running: RunningTurn | null | undefined;
  /** The transcript after the save. */
  readonly final: FinalTranscript;
  /** Nothing comes after this save. */
  readonly isOver: boolean;
}

/**
 * Saves with the marker of the turn in flight kept right: set before anything of a turn is saved that goes on,
 * cleared once its end is. Of a turn that was broken off, all that was told stays. Done again after a crash at any
 * moment it comes to the same.
 */
export async function savingTurn(
  { transcripts }: Pick<SessionDeps, "transcripts">,
  { ref, running, final, isOver }: TurnSave,
  save: () => Promise<void>,
): Promise<void> {
  const marker = await transcripts.turnInFlight(ref);
  const ended = running === null ? marker : null;
  if (ended !== null) await transcripts.prepareCommit(ref, ended.id, final);
  if (isBegun(running, marker) && !isOver) await transcripts.beginTurn(ref, { ...running, keeps: "said" });
  await save();
  if (ended !== null) await transcripts.clearTurn(ref, ended.id);
  else if (isOver && marker !== null) await transcripts.resumeTurn(ref);
}

/** Whether another turn runs than the marker has, or its name became known. */
function isBegun(
  running: TurnSave["running"],
  marker: Awaited<ReturnType<TranscriptStore["turnInFlight"]>>,
): running is RunningTurn {
  if (running === null || running === undefined) return false;
  return marker?.id !== running.id || (marker.turnId === null && running.turnId !== null);
}
