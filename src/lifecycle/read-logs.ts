import type { SessionId } from "../domain/ids.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { LoggedActivity } from "../ports/agent.ts";
import type { SessionDeps } from "./deps.ts";

type LogDeps = Pick<SessionDeps, "agents" | "dataDir">;

/**
 * What the own logs of these agents say of the running launch. One that cannot be read, or ends before the launch,
 * says nothing. A pure read; never rejects.
 */
export async function readLogs(
  deps: LogDeps,
  records: readonly SessionRecord[],
): Promise<ReadonlyMap<SessionId, LoggedActivity>> {
  const read = await Promise.all(records.map((record) => readLog(deps, record)));
  return new Map(read.flat());
}

async function readLog(
  { agents, dataDir }: LogDeps,
  { id, createdAtMs, metadata }: SessionRecord,
): Promise<readonly (readonly [SessionId, LoggedActivity])[]> {
  const { agent, agentSessionId, workspacePath, launchedAtMs = createdAtMs } = metadata;
  if (agentSessionId === null) return [];
  const logged = await agents.get(agent)?.readActivity?.(agentSessionId, { dataDir, workspacePath });
  return logged === undefined || logged.atMs < launchedAtMs ? [] : [[id, logged]];
}
