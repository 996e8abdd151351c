import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { ForkAnswer, ForkRequest } from "../../../ports/agent.ts";
import { recordsIn } from "../json-lines.ts";
import { putNew } from "../log-files.ts";
import { isConversationId, transcriptPaths } from "./claude-files.ts";
import { entriesIn, lineOfPosition } from "./conversation-entries.ts";
import { readLog } from "./read-log.ts";

/** The log up to a position, as that of another conversation in another workspace. */
function copyOf(content: string, { throughPosition, launch }: ForkRequest): string | undefined {
  if (entriesIn(content).every(({ position }) => position !== throughPosition)) return undefined;
  const lines = content.split("\n").slice(0, lineOfPosition(throughPosition));
  const own = { sessionId: launch.agentSessionId, cwd: launch.workspacePath };
  // Line by line, so that what was said keeps its position.
  return lines.map((line) => `${rewritten(line, own)}\n`).join("");
}

function rewritten(line: string, own: { readonly sessionId: string | null; readonly cwd: string }): string {
  const [found] = recordsIn(line);
  if (found === undefined) return "";
  const { record } = found;
  const cwd = "cwd" in record ? { cwd: own.cwd } : {};
  return JSON.stringify({ ...record, ...cwd, ...("sessionId" in record && { sessionId: own.sessionId }) });
}

/** What claude keeps of a user, for each of the two conversations. */
interface Folders {
  readonly from: string;
  readonly to: string;
}

/**
 * Copies the log of a conversation up to a position into the folder of the new workspace, where claude takes it up
 * as if it had been held there (2.1.197). The first log is only read.
 */
export async function copyConversation({ from, to }: Folders, request: ForkRequest): Promise<ForkAnswer> {
  const { source, throughPosition, launch } = request;
  const id = launch.agentSessionId;
  if (id === null || !isConversationId(id)) return { kind: "refused", why: "the new conversation has no id" };
  const content = await readLog(from, source.agentSessionId, source.workspacePath);
  if (content === undefined) {
    return { kind: "refused", why: `there is no conversation ${source.agentSessionId}` };
  }
  const copy = copyOf(content, request);
  if (copy === undefined) return { kind: "refused", why: `it does not reach position ${throughPosition}` };
  const [path] = await transcriptPaths(to, { id, workspacePath: launch.workspacePath });
  if (path === undefined) return { kind: "refused", why: "the path of its worktree is too long for claude" };
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if (!(await putNew(path, copy))) return { kind: "refused", why: `conversation ${id} is there already` };
  return { kind: "accepted", agentSessionId: id, inheritedThrough: throughPosition };
}
