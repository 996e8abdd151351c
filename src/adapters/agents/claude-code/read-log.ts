import { recordsIn } from "../json-lines.ts";
import { readIfThere } from "../log-files.ts";
import { isConversationId, transcriptPaths } from "./claude-files.ts";
import { isPrompt } from "./log-record.ts";

/**
 * The log of a conversation that was held in this workspace; `undefined` when there is none.
 *
 * @throws AoError agent_unavailable when that cannot be told.
 */
export async function readLog(
  folder: string,
  id: string,
  workspacePath: string,
): Promise<string | undefined> {
  if (!isConversationId(id)) return undefined;
  for (const path of await transcriptPaths(folder, { id, workspacePath })) {
    const content = await readIfThere(path);
    if (content !== undefined && isOfWorkspace(content, id, workspacePath)) return content;
  }
  return undefined;
}

/** Its first prompt was given here, and it names itself: other workspaces may share the folder. */
function isOfWorkspace(content: string, id: string, workspacePath: string): boolean {
  const first = recordsIn(content).find(({ record }) => isPrompt(record))?.record;
  return first?.["cwd"] === workspacePath && first["sessionId"] === id;
}
