import { isoTime } from "../../domain/iso-time.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { Health } from "../../ports/transcript-store.ts";
import type { SessionDeps } from "../deps.ts";
import { transcriptRef } from "./transcript-ref.ts";
import { unsavedCause } from "./unsaved.ts";

/** What `ao show` tells of a transcript. */
export interface TranscriptSummaryJson {
  readonly messages: number;
  /** `null` when the transcript could not be read. */
  readonly digest: string | null;
  readonly savedAt: string | null;
  readonly health: Health;
  /** Why the last save failed; `null` when it did not. The next one tries again. */
  readonly unsaved: string | null;
}

type Summary = Omit<TranscriptSummaryJson, "unsaved">;

const NOTHING: Summary = { messages: 0, digest: null, savedAt: null, health: "missing" };

/** A session's transcript at a glance; `null` when there is none and was none. */
export async function summarizeTranscript(
  deps: Pick<SessionDeps, "transcripts" | "files" | "dataDir">,
  record: Pick<SessionRecord, "id" | "projectId" | "metadata">,
): Promise<TranscriptSummaryJson | null> {
  const [summary, unsaved] = [await summaryOf(deps, record), await unsavedCause(deps, record.id)];
  return summary === null && unsaved === null ? null : { ...(summary ?? NOTHING), unsaved };
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
