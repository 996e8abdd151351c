import { readFileSync } from "node:fs";
import type { Project } from "../../domain/project.ts";
import type { PoolSettings } from "../../ports/spares.ts";
import { type ConfigLookup, findConfigFile } from "./find-config-file.ts";
import type { LoadConfigOptions } from "./read-config.ts";

export interface PoolSettingsOptions extends Pick<LoadConfigOptions, "repositoryOf"> {
  /** As for every command; whoever asks stands in the project's repository, wherever the caller does. */
  readonly lookup: Omit<ConfigLookup, "recordedPath">;
}

const NONE: PoolSettings = { size: 0, defaultBranch: null };

/**
 * How many worktrees a project's configuration wants to be made ahead. A file without the word is not parsed, which
 * would cost more than all else that a tick does.
 *
 * @throws AoError config_invalid when it cannot be read.
 */
export async function poolSettingsOf(
  { lookup, repositoryOf }: PoolSettingsOptions,
  project: Project,
): Promise<PoolSettings> {
  const own: ConfigLookup = { ...lookup, cwd: project.repositoryPath, recordedPath: undefined };
  const path = findConfigFile(own);
  if (path === undefined || !readFileSync(path, "utf8").includes("pool")) return NONE;
  const { loadConfig } = await import("./load-config.ts");
  const config = await loadConfig({ ...own, repositoryOf });
  const { pool, defaultBranch } = await config.settingsFor(project, "worker");
  return { size: pool.value, defaultBranch: defaultBranch.value };
}
