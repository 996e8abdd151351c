import type { SessionDeps } from "../deps.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import { changeFiles } from "./change-files.ts";
import { findSalvage } from "./find-salvage.ts";
import { finishPutBack, type PutBackResult } from "./put-back-steps.ts";
import { requireResting } from "./require-resting.ts";

/**
 * Puts a salvage back into the worktree of its session, which has to rest.
 *
 * @throws AoError salvage_not_found, session_not_found, workspace_freed, busy, operation_in_progress
 * @throws AoError as `Snapshots.putBack`.
 */
export async function putBackSession(deps: SessionDeps, name: string): Promise<PutBackResult> {
  await recoverOperations(deps);
  const { sessionId, ref } = await findSalvage(deps, name);
  const record = await requireResting(deps, sessionId);
  return changeFiles(deps, record, {
    intent: { kind: "put_back", input: { ref } },
    finish: (held) => finishPutBack(deps, held),
  });
}
