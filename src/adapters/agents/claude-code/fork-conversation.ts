import { randomUUID } from "node:crypto";
import { link, mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { hasErrorCode } from "../../../domain/error-code.ts";
import type { ForkAnswer, ForkRequest } from "../../../ports/agent.ts";
import { isConversationId, transcriptPaths } from "./claude-files.ts";
import { entriesIn, lineOfPosition } from "./conversation-entries.ts";
import { recordsIn } from "./log-record.ts";
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

/** Appears whole or not at all, durably. False when the name is taken. */
async function putNew(path: string, content: string): Promise<boolean> {
  const partial = `${path}.${randomUUID()}.partial`;
  const file = await open(partial, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
    await link(partial, path);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    await file.close();
    await rm(partial, { force: true });
  }
}

/**
 * Copies the log of a conversation up to a position into the folder of the new workspace, where claude takes it up
 * as if it had been held there (2.1.197). The first log is only read.
 */
export async function copyConversation(folder: string, request: ForkRequest): Promise<ForkAnswer> {
  const { source, throughPosition, launch } = request;
  const id = launch.agentSessionId;
  if (id === null || !isConversationId(id)) return { kind: "refused", why: "the new conversation has no id" };
  const content = await readLog(folder, source.agentSessionId, source.workspacePath);
  if (content === undefined) {
    return { kind: "refused", why: `there is no conversation ${source.agentSessionId}` };
  }
  const copy = copyOf(content, request);
  if (copy === undefined) return { kind: "refused", why: `it does not reach position ${throughPosition}` };
  const [path] = await transcriptPaths(folder, { id, workspacePath: launch.workspacePath });
  if (path === undefined) return { kind: "refused", why: "the path of its worktree is too long for claude" };
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if (!(await putNew(path, copy))) return { kind: "refused", why: `conversation ${id} is there already` };
  return { kind: "accepted", agentSessionId: id, inheritedThrough: throughPosition };
}
