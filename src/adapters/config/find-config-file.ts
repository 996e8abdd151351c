import { type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";
import { AoError } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";

/** Looked for in each folder, in this order; the last two are the earlier programs' names. */
const FILE_NAMES = ["ao.yaml", "ao.yml", "agent-orchestrator.yaml", "agent-orchestrator.yml"] as const;

export interface ConfigLookup {
  /** From `--config`, relative to `cwd`. */
  readonly explicitPath: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string | undefined;
  /** The caller; a file found by search must be this user's or root's. `undefined` checks nothing. */
  readonly uid: number | undefined;
  /** The file a session was made with; preferred to a search while it is there. */
  readonly recordedPath: string | undefined;
}

/** Nothing can be at a path that is longer than the system takes. */
function fileAt(path: string): Stats | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() ? stats : undefined;
  } catch (error) {
    if (hasErrorCode(error, "ENAMETOOLONG")) return undefined;
    throw error;
  }
}

/** A file that somebody else owns could run its `postCreate` commands as this user. */
function assertOwn(path: string, stats: Stats, uid: number | undefined): void {
  if (uid === undefined || stats.uid === uid || stats.uid === 0) return;
  throw new AoError("config_invalid", `configuration ${path} belongs to another user`, {
    hint: `read it, then name it: --config ${shellQuoted(path)}`,
    details: { path },
  });
}

function named(path: string, by: string): string {
  if (fileAt(path)) return path;
  throw new AoError("config_invalid", `no configuration file at ${path} (from ${by})`, {
    hint: "see where ao looks: ao config path --help",
    details: { path },
  });
}

function searchUpward({ cwd, uid }: ConfigLookup): string | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    for (const name of FILE_NAMES) {
      const path = join(directory, name);
      const stats = fileAt(path);
      if (stats === undefined) continue;
      assertOwn(path, stats, uid);
      return path;
    }
    if (dirname(directory) === directory) return undefined;
  }
}

function userFile(lookup: ConfigLookup): string | undefined {
  const xdg = lookup.env["XDG_CONFIG_HOME"];
  const base = xdg?.startsWith("/") ? xdg : lookup.home && join(lookup.home, ".config");
  const path = base && join(base, "ao", "config.yaml");
  return path && fileAt(path) ? path : undefined;
}

/**
 * The configuration file to use, absolute: `--config`, `AO_CONFIG_PATH`, the recorded one, upward from the
 * working directory, then `$XDG_CONFIG_HOME/ao/config.yaml`. `undefined` when there is none.
 *
 * @throws AoError config_invalid when a named file is missing, or a found one belongs to another user.
 */
export function findConfigFile(lookup: ConfigLookup): string | undefined {
  if (lookup.explicitPath) return named(resolve(lookup.cwd, lookup.explicitPath), "--config");
  const fromEnv = lookup.env["AO_CONFIG_PATH"];
  if (fromEnv) return named(resolve(lookup.cwd, fromEnv), "AO_CONFIG_PATH");
  const { recordedPath } = lookup;
  if (recordedPath && fileAt(recordedPath)) return recordedPath;
  return searchUpward(lookup) ?? userFile(lookup);
}
