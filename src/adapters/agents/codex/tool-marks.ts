import type { AgentPlace } from "../../../ports/agent-target.ts";
import type { EnvMarker } from "../../../ports/process-table.ts";
import { readRecords } from "./own-events.ts";
import { callIn, isTurnStart } from "./rollout-record.ts";

/** In the environment of whatever a tool runs, the id of its call (0.171.0). */
const CALL_VARIABLE = "CODEX_TOOL_CALL_ID";

/** What the processes of the last turn's tools carry: an interrupt leaves them running (0.171.0). Never rejects. */
export async function toolMarks(
  folder: string,
  { agentSessionId }: Pick<AgentPlace, "agentSessionId">,
): Promise<readonly EnvMarker[]> {
  if (agentSessionId === null) return [];
  const records = await readRecords(folder, agentSessionId);
  return records.slice(records.findLastIndex(isTurnStart) + 1).flatMap((record) => {
    const value = callIn(record);
    return value === undefined ? [] : [{ name: CALL_VARIABLE, value }];
  });
}
