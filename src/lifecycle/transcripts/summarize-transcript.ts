import { isoTime } from "../../domain/iso-time.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { InFlightTurn } from "../../domain/transcript/in-flight-turn.ts";
import { isSettledTurn, type Turn } from "../../domain/turn.ts";
import type { Health } from "../../ports/transcript-results.ts";
import type { SessionDeps } from "../deps.ts";
import { transcriptRef } from "./transcript-ref.ts";
import { unsavedCause } from "./unsaved.ts";

/** What is known of a turn in flight. */
export interface TurnInFlightJson {
  /** `null` when only its beginning is known. */
  readonly turnId: string | null;
  /** When it was first heard of. */
  readonly since: string;
}

/** For a script; `null` stays `null`. */
export function turnInFlightJson(turn: InFlightTurn | null): TurnInFlightJson | null {
  return turn && { turnId: turn.turnId, since: isoTime(turn.startedAtMs) };
}

/** What `ao show` tells of a transcript. */
export interface TranscriptSummaryJson {
  readonly messages: number;
  /** `null` when the transcript could not be read. */
  readonly digest: string | null;
  readonly savedAt: string | null;
  readonly health: Health;
  /** A turn that has begun and is not known to have ended; `null` for none. */
  readonly turnInFlight: TurnInFlightJson | null;
  /** Why the last save failed; `null` when it did not. The next one tries again. */
  readonly unsaved: string | null;
}

type Summary = Omit<TranscriptSummaryJson, "unsaved" | "turnInFlight">;

const NOTHING: Summary = { messages: 0, digest: null, savedAt: null, health: "missing" };

/**
 * The turn that a transcript has in flight, unless its end was told by now: the next command that changes something
 * saves what was said to that end.
 *
 * @param turns of the session, as they are now.
 */
export function stillInFlight<InFlight extends { readonly turnId: string | null }>(
  turn: InFlight | null,
  turns: readonly Turn[],
): InFlight | null {
  const isOver = turns.some((one) => one.turnId === turn?.turnId && isSettledTurn(one));
  return isOver ? null : turn;
}

/**
 * A session's transcript at a glance; `null` when there is none and was none.
 *
 * @param turns as of `stillInFlight`.
 */
export async function summarizeTranscript(
  deps: Pick<SessionDeps, "transcripts" | "files" | "dataDir">,
  record: Pick<SessionRecord, "id" | "projectId" | "metadata">,
  turns: readonly Turn[],
): Promise<TranscriptSummaryJson | null> {
  const [summary, unsaved] = [await summaryOf(deps, record), await unsavedCause(deps, record.id)];
  const turn = await deps.transcripts.turnInFlight(transcriptRef(deps, record));
  if (summary === null && unsaved === null && turn === null) return null;
  return { ...(summary ?? NOTHING), turnInFlight: turnInFlightJson(stillInFlight(turn, turns)), unsaved };
}

async function summaryOf(
  deps: Pick<SessionDeps, "transcripts" | "dataDir">,
  record: Pick<SessionRecord, "id" | "projectId" | "metadata">,
): Promise<Summary | null> {
  const summary = await deps.transcripts.summary(transcriptRef(deps, record));
  const parts = record.metadata.fork?.inherits ?? [];
  const before = parts.reduce((sum, { count }) => sum + count, 0);
  switch (summary.kind) {
    case "summary": {
      const { head, savedAtMs, health } = summary;
      const messages = before + head.count;
      return { messages, digest: head.digest, savedAt: isoTime(savedAtMs), health };
    }
    case "refused":
      return { messages: 0, digest: null, savedAt: null, health: summary.refusal.reason };
    case "missing":
      if (summary.wasCommitted) return { ...NOTHING, health: "removed" };
      if (before === 0) return null;
      return { ...NOTHING, messages: before, digest: parts.at(-1)?.digest ?? null, health: "healthy" };
  }
}
