import { join, resolve } from "node:path";
import { namesIn } from "../log-files.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A conversation id as claude takes it: a UUID, in any case. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isConversationId(text: string): boolean {
  return UUID.test(text);
}

/** The folder of all that claude keeps of a user (2.1.197: `CLAUDE_CONFIG_DIR`, else `~/.claude`). */
export function claudeFolder({ CLAUDE_CONFIG_DIR: own, HOME: home }: Environment, cwd = "/"): string {
  return resolve(cwd, own === undefined || own === "" ? join(home ?? "/", ".claude") : own);
}

/** A longer folder name is cut and gets a hash of its own (2.1.197). */
const MAX_NAME = 200;

/** The name of a workspace's folder below `projects`: every character but letters and digits is a dash. */
function projectName(workspacePath: string): string {
  return workspacePath.replace(/[^A-Za-z0-9]/g, "-");
}

/**
 * Where the log of a conversation in a workspace may lie, the likeliest first. Several workspaces may share a
 * folder, so what the log says itself decides.
 *
 * @throws AoError agent_unavailable when a folder on the way cannot be read.
 */
export async function transcriptPaths(
  folder: string,
  { id, workspacePath }: { readonly id: string; readonly workspacePath: string },
): Promise<readonly string[]> {
  const name = projectName(workspacePath);
  const projects = join(folder, "projects");
  if (name.length <= MAX_NAME) return [join(projects, name, `${id}.jsonl`)];
  const names = await namesIn(projects);
  const start = `${name.slice(0, MAX_NAME)}-`;
  return names.filter((one) => one.startsWith(start)).map((one) => join(projects, one, `${id}.jsonl`));
}

/** What claude says of a running process of its own (2.1.197). */
export function statusPath(folder: string, pid: number): string {
  return join(folder, "sessions", `${pid}.json`);
}
