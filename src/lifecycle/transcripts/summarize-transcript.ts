import { isoTime } from "../../domain/iso-time.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { Health } from "../../ports/transcript-store.ts";
import type { SessionDeps } from "../deps.ts";
import { transcriptRef } from "./transcript-ref.ts";

/** What `ao show` tells of a transcript. */
export interface TranscriptSummaryJson {
  readonly messages: number;
  /** `null` when the transcript could not be read. */
  readonly digest: string | null;
  readonly savedAt: string | null;
  readonly health: Health;
}

/** A session's transcript at a glance; `null` when there is none and was none. */
export async function summarizeTranscript(
  deps: Pick<SessionDeps, "transcripts" | "dataDir">,
  record: Pick<SessionRecord, "id" | "projectId">,
): Promise<TranscriptSummaryJson | null> {
  const summary = await deps.transcripts.summary(transcriptRef(deps, record));
  switch (summary.kind) {
    case "summary": {
      const { head, savedAtMs, health } = summary;
      return { messages: head.count, digest: head.digest, savedAt: isoTime(savedAtMs), health };
    }
    case "refused":
      return { messages: 0, digest: null, savedAt: null, health: summary.refusal.reason };
    case "missing":
      return summary.wasCommitted ? { messages: 0, digest: null, savedAt: null, health: "removed" } : null;
  }
}
