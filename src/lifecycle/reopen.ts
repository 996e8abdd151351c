import { reopenForRestore } from "../domain/apply-requests.ts";
import { AoError } from "../domain/errors.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { SessionMetadata, SessionRecord } from "../domain/session.ts";

/** What a restore starts anew; everything else of the session stays. */
export type RestorePatch = Pick<
  SessionMetadata,
  | "launchId"
  | "launchedAtMs"
  | "agentSessionId"
  | "agentHome"
  | "workspacePath"
  | "branch"
  | "runtime"
  | "process"
>;

/**
 * A terminal row as it is for its new launch. A conversation that it leaves behind for another one stays on record.
 * Pure.
 *
 * @throws AoError not_restorable when it is not terminal.
 */
export function reopen(record: SessionRecord, patch: RestorePatch): SessionRecord {
  if (!isTerminal(record.lifecycle)) {
    throw new AoError("not_restorable", `session ${record.id} is not terminated`);
  }
  const previousAgentSessionIds = conversationsLeft(record, patch.agentSessionId);
  const anew = {
    ...{ workspaceFreedAtMs: null, salvageRef: null, deletedBranch: null, killNote: null, exit: null },
    previousAgentSessionIds,
  };
  const metadata = { ...record.metadata, ...patch, ...anew };
  return { ...record, metadata, terminatedAtMs: null, lifecycle: reopenForRestore(record.lifecycle) };
}

function conversationsLeft({ metadata }: SessionRecord, next: string | null): readonly string[] {
  const { agentSessionId, previousAgentSessionIds } = metadata;
  if (agentSessionId === null || agentSessionId === next) return previousAgentSessionIds;
  const others = previousAgentSessionIds.filter((id) => id !== agentSessionId && id !== next);
  return [...others, agentSessionId];
}
