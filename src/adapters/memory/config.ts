import { NO_IGNORED_RULE } from "../../domain/ignored-rule.ts";
import type { Config, ConfiguredProject, SessionSettings, Sourced } from "../../ports/config.ts";

export interface MemoryConfigOptions {
  readonly warnings?: readonly string[];
  readonly projects?: readonly ConfiguredProject[];
  /** Agents by the path of a project's repository. */
  readonly agents?: Readonly<Record<string, string>>;
  /** The agent where nothing else is said. */
  readonly defaultAgent?: string;
}

/** A configuration without a file. Every setting but the agent is a default. */
export function memoryConfig({
  warnings = [],
  projects = [],
  agents = {},
  defaultAgent = "embedded",
}: MemoryConfigOptions = {}): Config {
  return {
    path: null,
    warnings,
    projects,
    agents: Object.entries(agents).map(([path, name]) => ({ name, key: `projects.${path}.agent`, line: 1 })),
    declaredAgents: [],
    settingsFor: async (project) => {
      const agent = project ? agents[project.repositoryPath] : undefined;
      return settingsWith(agent === undefined ? byDefault(defaultAgent) : { value: agent, origin: "memory" });
    },
    ignoredFor: async () => NO_IGNORED_RULE,
  };
}

function byDefault<Value>(value: Value): Sourced<Value> {
  return { value, origin: "default" };
}

function settingsWith(agent: Sourced<string>): SessionSettings {
  return {
    agent,
    model: byDefault<string | null>(null),
    permissions: byDefault("default"),
    rules: byDefault<string | null>(null),
    defaultBranch: byDefault<string | null>(null),
    symlinks: byDefault<readonly string[]>([]),
    copy: byDefault<readonly string[]>([]),
    postCreate: byDefault<readonly string[]>([]),
    postCreateTimeoutMs: byDefault(600_000),
    env: byDefault<Readonly<Record<string, string>>>({}),
    ignored: byDefault(NO_IGNORED_RULE),
    pool: byDefault(0),
  };
}
