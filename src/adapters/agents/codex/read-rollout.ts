import { readFile } from "node:fs/promises";
import { membersIn } from "../json-lines.ts";
import { findRollout } from "./codex-files.ts";
import { headIn } from "./rollout-record.ts";

/** The log of a conversation that began in this workspace; `undefined` when there is none. */
export async function readRollout(
  folder: string,
  id: string,
  workspacePath: string,
): Promise<string | undefined> {
  const path = await findRollout(folder, id);
  const content = path === undefined ? undefined : await readFile(path, "utf8").catch(() => undefined);
  return content !== undefined && isOfWorkspace(content, id, workspacePath) ? content : undefined;
}

/** It names itself and the place where it was held. */
function isOfWorkspace(content: string, id: string, workspacePath: string): boolean {
  const head = headIn(membersIn(content.slice(0, content.indexOf("\n") + 1)));
  return head?.id === id && head.workspacePath === workspacePath;
}
