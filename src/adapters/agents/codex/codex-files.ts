import { join, resolve } from "node:path";
import { namesIn } from "../log-files.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A conversation id as codex takes it: a UUID in lower case. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function isConversationId(text: string): boolean {
  return UUID.test(text);
}

/** The folder of all that codex keeps of a user (0.171.0: `CODEX_HOME`, else `~/.codex`). */
export function codexFolder({ CODEX_HOME: own, HOME: home }: Environment, cwd = "/"): string {
  return resolve(cwd, own === undefined || own === "" ? join(home ?? "/", ".codex") : own);
}

/** Below `sessions`: year, month, day. */
const LEVELS = 3;

/**
 * The log of a conversation, wherever below `sessions` it lies; `undefined` when there is none. Its folder is the
 * local day on which it began, so the newest days are looked at first.
 *
 * @throws AoError agent_unavailable when a folder on the way cannot be read.
 */
export async function findRollout(folder: string, id: string): Promise<string | undefined> {
  return isConversationId(id) ? findBelow(join(folder, "sessions"), `-${id}.jsonl`, LEVELS) : undefined;
}

async function findBelow(folder: string, ending: string, levels: number): Promise<string | undefined> {
  const names = await namesIn(folder);
  if (levels === 0) {
    const found = names.find((name) => name.startsWith("rollout-") && name.endsWith(ending));
    return found === undefined ? undefined : join(folder, found);
  }
  const numbered = names.filter((name) => /^\d+$/.test(name)).toSorted();
  for (const name of numbered.toReversed()) {
    const found = await findBelow(join(folder, name), ending, levels - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const twoDigits = (number: number) => String(number).padStart(2, "0");

/** Where the log of a conversation that begins now belongs; by local time, as codex has it (0.171.0). */
export function newRollout(
  folder: string,
  id: string,
  now: Date,
): { readonly dir: string; readonly path: string } {
  const day = [String(now.getFullYear()), twoDigits(now.getMonth() + 1), twoDigits(now.getDate())];
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(twoDigits);
  const dir = join(folder, "sessions", ...day);
  return { dir, path: join(dir, `rollout-${day.join("-")}T${time.join("-")}-${id}.jsonl`) };
}
