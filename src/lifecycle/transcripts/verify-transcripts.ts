import { dataLayout } from "../../domain/data-layout.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { TranscriptRef } from "../../domain/transcript/names.ts";
import type { Health, TranscriptReport } from "../../ports/transcript-results.ts";
import type { SessionDeps } from "../deps.ts";
import { inheritedFolder, partRef } from "../forks/inherited-parts.ts";
import { requireSession } from "../session-refs.ts";
import { transcriptRef } from "./transcript-ref.ts";

type Deps = Pick<SessionDeps, "store" | "transcripts" | "dataDir">;

/** Nothing is lost, or there is nothing that could be. */
const SOUND: readonly Health[] = ["healthy", "stale", "missing"];

export function isSound({ health }: Pick<TranscriptReport, "health">): boolean {
  return SOUND.includes(health);
}

/**
 * Reads every file of transcripts and of their copies: of the sessions named, or of all that are on disk.
 * Changes nothing.
 *
 * @throws AoError session_not_found or data_dir_unusable
 */
export async function verifyTranscripts(
  deps: Deps,
  ids: readonly SessionId[] | null,
): Promise<readonly TranscriptReport[]> {
  const refs =
    ids === null ? await allTranscripts(deps) : ids.flatMap((id) => refsOf(deps, requireSession(deps, id)));
  const reports: TranscriptReport[] = [];
  for (const ref of refs) {
    const report = await deps.transcripts.verify(ref);
    reports.push(report);
    for (const name of report.copies)
      reports.push(await deps.transcripts.verify({ folder: ref.folder, name }));
  }
  return reports;
}

/** Of a fork also those that hold what was said before it. */
function refsOf(deps: Deps, record: SessionRecord): readonly TranscriptRef[] {
  const { projectId, metadata } = record;
  const parts = metadata.fork?.inherits ?? [];
  return [...parts.map(({ name }) => partRef(deps, projectId, name)), transcriptRef(deps, record)];
}

/** Of every project that has or had a session. */
async function allTranscripts({ store, transcripts, dataDir }: Deps): Promise<readonly TranscriptRef[]> {
  const { sessions, unreadable } = store.rows();
  const projects = new Set([...sessions, ...unreadable].map(({ projectId }) => String(projectId)));
  const { transcriptFolder } = dataLayout(dataDir);
  const found = await Promise.all(
    [...projects]
      .sort()
      .map(transcriptFolder)
      .flatMap((folder) => [transcripts.list(folder), transcripts.list(inheritedFolder(folder))]),
  );
  return found.flat();
}
