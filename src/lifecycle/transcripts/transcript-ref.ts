import { dataLayout } from "../../domain/data-layout.ts";
import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { TranscriptRefusal } from "../../domain/transcript/budgets.ts";
import type { TranscriptRef } from "../../domain/transcript/names.ts";
import type { SessionDeps } from "../deps.ts";

/** Where the conversation of a session is kept. */
export function transcriptRef(
  { dataDir }: Pick<SessionDeps, "dataDir">,
  { id, projectId }: Pick<SessionRecord, "id" | "projectId">,
): TranscriptRef {
  return { folder: dataLayout(dataDir).transcriptFolder(projectId), name: id };
}

/** Why a transcript was neither read nor changed. */
export function refusalError(id: SessionId, refusal: TranscriptRefusal): AoError {
  const { reason, path } = refusal;
  const details = { refusal };
  switch (reason) {
    case "newer":
      return new AoError("store_newer", `a newer ao wrote the transcript of ${id}: ${path}`, {
        hint: "use that ao",
        details,
      });
    case "foreign":
      return new AoError("transcript_damaged", `${path} is no transcript of ${id}`, {
        hint: `ao transcript repair ${id} keeps it aside, in the salvage`,
        details,
      });
    case "damaged":
      return new AoError("transcript_damaged", `messages are missing in the transcript of ${id}`, {
        hint: `ao transcript repair ${id}`,
        details,
      });
    case "over_budget":
      return new AoError(
        "transcript_damaged",
        `the transcript of ${id} has more than ${refusal.limit} of ${refusal.budget}`,
        {
          details,
        },
      );
  }
}

/** @throws AoError transcript_not_found */
export function refuseRemoved(id: SessionId, wasCommitted: boolean): void {
  if (!wasCommitted) return;
  throw new AoError(
    "transcript_not_found",
    `the transcript of ${id} was saved once, and its files are gone`,
    {
      hint: `ao transcript repair ${id} lets a new one begin`,
    },
  );
}
