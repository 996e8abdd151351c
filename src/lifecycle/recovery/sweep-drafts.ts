import { dataLayout } from "../../domain/data-layout.ts";
import type { SessionDeps } from "../deps.ts";

/** No write of a small file takes a day, whatever a clock was set to. */
const DRAFT_KEPT_MS = 24 * 3_600_000;

/** Removes what processes that died in the middle of a write left in folders that stay. Idempotent. */
export async function sweepDrafts({
  files,
  clock,
  dataDir,
}: Pick<SessionDeps, "files" | "clock" | "dataDir">): Promise<void> {
  const beforeMs = clock.nowMs() - DRAFT_KEPT_MS;
  for (const folder of dataLayout(dataDir).draftFolders) await files.removeDrafts(folder, beforeMs);
}
