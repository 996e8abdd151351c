import { Option } from "commander";
import type { Ao } from "../src/compose.ts";
import { parseDuration } from "../src/domain/duration.ts";
import { AoError, isAoError } from "../src/domain/errors.ts";
import { type ProjectId, parseProjectId, type SessionId } from "../src/domain/ids.ts";
import { resolveProject } from "../src/lifecycle/projects/projects.ts";
import { resolveSessionId } from "../src/lifecycle/resolve-session-id.ts";

/** `--json`, the same everywhere. */
export function jsonOption(): Option {
  return new Option("--json", "print one JSON value and nothing else").default(false, "off");
}

/** `-p`, the same everywhere. */
export function projectOption(meaning: string): Option {
  return new Option("-p, --project <id>", meaning);
}

/** `--dry-run`, `--stored` and the like: off unless given. */
export function switchOption(flags: string, meaning: string): Option {
  return new Option(flags, meaning).default(false, "off");
}

/** @throws AoError usage when the text is no duration. */
export function durationFlag(flag: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new AoError("usage", `${flag} is no duration: ${JSON.stringify(text)}`, {
    hint: `for example ${flag} 90s, ${flag} 30m, ${flag} 2d; a number alone is seconds`,
  });
}

/** @throws AoError usage when the text is no whole number from 1 to `max`. */
export function countFlag(flag: string, text: string, max: number): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= max) return count;
  throw new AoError("usage", `${flag} must be a whole number from 1 to ${max}, is ${JSON.stringify(text)}`);
}

/**
 * The project of `-p`, as far as sessions of it can exist.
 *
 * @throws AoError project_not_found when neither the store nor the configuration knows it.
 */
export async function projectFilter(ao: Ao, flag: string | undefined): Promise<ProjectId | null> {
  if (flag === undefined) return null;
  const id = parseProjectId(flag);
  if (id !== undefined && ao.deps.store.project(id) !== undefined) return id;
  const { projects } = await ao.config();
  const found = await resolveProject(ao.deps, { flag, cwd: ao.cwd, config: projects });
  return found?.project.id ?? null;
}

/**
 * The sessions that were named, each once, in the order given.
 *
 * @throws AoError session_not_found when one of them is none: then nothing is done to the others either.
 */
export function sessionIds(ao: Ao, names: readonly string[]): readonly SessionId[] {
  try {
    return [...new Set(names.map((name) => resolveSessionId(ao.deps, name)))];
  } catch (error) {
    if (names.length === 1 || !isAoError(error, "session_not_found")) throw error;
    throw new AoError(error.code, `${error.message}; nothing was done to the others`, {
      hint: error.hint ?? "ao list",
      details: error.details,
      cause: error,
    });
  }
}
