import { membersIn } from "../json-lines.ts";
import { readIfThere } from "../log-files.ts";
import { findRollout } from "./codex-files.ts";
import { headIn } from "./rollout-record.ts";

/**
 * The log of a conversation that began in this workspace; `undefined` when there is none.
 *
 * @throws AoError agent_unavailable when that cannot be told.
 */
export async function readRollout(
  folder: string,
  id: string,
  workspacePath: string,
): Promise<string | undefined> {
  const path = await findRollout(folder, id);
  const content = path === undefined ? undefined : await readIfThere(path);
  return content !== undefined && isOfWorkspace(content, id, workspacePath) ? content : undefined;
}

/** It names itself and the place where it was held. */
function isOfWorkspace(content: string, id: string, workspacePath: string): boolean {
  const head = headIn(membersIn(content.slice(0, content.indexOf("\n") + 1)));
  return head?.id === id && head.workspacePath === workspacePath;
}
