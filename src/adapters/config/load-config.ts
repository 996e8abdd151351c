import { NO_IGNORED_RULE } from "../../domain/ignored-rule.ts";
import type { Config } from "../../ports/config.ts";
import { findConfigFile } from "./find-config-file.ts";
import type { LoadConfigOptions } from "./read-config.ts";
import { sessionSettings } from "./session-settings.ts";

function withoutFile(): Config {
  const source = { block: {}, blockKey: [], defaults: undefined, originOf: () => "default", directory: "/" };
  return {
    path: null,
    warnings: [],
    projects: [],
    agents: [],
    declaredAgents: [],
    settingsFor: (_project, kind) => sessionSettings(source, kind),
    ignoredFor: async () => NO_IGNORED_RULE,
  };
}

/**
 * Finds, reads and checks the configuration. With no file everything is a default.
 *
 * @throws AoError config_invalid with file and line for a file that cannot be used.
 * @throws what `repositoryOf` throws, which is asked only for a file that names the repository it lies in.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<Config> {
  const path = findConfigFile(options);
  if (path === undefined) return withoutFile();
  const { readConfig } = await import("./read-config.ts");
  return readConfig(path, options);
}
