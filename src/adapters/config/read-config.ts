import { dirname } from "node:path";
import { NO_IGNORED_RULE } from "../../domain/ignored-rule.ts";
import type { Project } from "../../domain/project.ts";
import type { Config, ConfiguredProject } from "../../ports/config.ts";
import { declarationsOf } from "./declared-agents.ts";
import type { ConfigLookup } from "./find-config-file.ts";
import { namedAgents } from "./named-agents.ts";
import { type BlockOfProject, projectBlocks } from "./project-blocks.ts";
import { readYaml, type YamlFile } from "./read-yaml.ts";
import type { LocalFile } from "./schema.ts";
import { ignoredOf, type SettingsSource, sessionSettings } from "./session-settings.ts";
import { validateFile } from "./validate-file.ts";

export interface LoadConfigOptions extends ConfigLookup {
  /** The repository around a folder, to know where a file without `projects:` applies. */
  readonly repositoryOf: (directory: string) => Promise<string | undefined>;
}

type Placed = Pick<SettingsSource, "block" | "blockKey">;

const NOTHING: Placed = { block: {}, blockKey: [] };

function blockFor(blocks: readonly BlockOfProject[], project: Project | null): Placed {
  const found =
    blocks.find((entry) => entry.project.path === project?.repositoryPath) ??
    blocks.find((entry) => entry.project.id === project?.id);
  return found ? { block: found.block, blockKey: ["projects", found.project.id] } : NOTHING;
}

function ignoredNames(yaml: YamlFile, key: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const names = Object.keys(env).filter((name) => name.startsWith("AO_"));
  return names.map(
    (name) => `${yaml.path}:${yaml.lineOf([...key, name])}: ${name} is set by ao itself; this one is ignored`,
  );
}

function sharedConfig(
  yaml: YamlFile,
  parsed: Extract<ReturnType<typeof validateFile>, { kind: "shared" }>,
  home: string | undefined,
): Config {
  const { file } = parsed;
  const blocks = projectBlocks(yaml, file, home);
  const ignored = blocks.flatMap(({ project, block }) =>
    ignoredNames(yaml, ["projects", project.id, "env"], block.env),
  );
  return {
    path: yaml.path,
    warnings: [...parsed.warnings, ...ignored],
    projects: blocks.map((entry) => entry.project),
    agents: [
      ...namedAgents(yaml, ["defaults"], file.defaults),
      ...blocks.flatMap(({ project, block }) => namedAgents(yaml, ["projects", project.id], block)),
    ],
    declaredAgents: declarationsOf(file.agents),
    settingsFor: (project, kind) =>
      sessionSettings(
        {
          ...blockFor(blocks, project),
          defaults: file.defaults,
          originOf: (key) => `${yaml.path}:${yaml.lineOf(key)}`,
          directory: project?.repositoryPath ?? dirname(yaml.path),
        },
        kind,
      ),
    ignoredFor: async (project) => ignoredOf(blockFor(blocks, project).block) ?? NO_IGNORED_RULE,
  };
}

type Naming = Pick<Config, "projects" | "warnings">;

/** What a file without `projects:` says of the repository it lies in, beside the settings. */
async function namedByFile(
  { path }: YamlFile,
  file: LocalFile,
  repositoryOf: LoadConfigOptions["repositoryOf"],
): Promise<Naming> {
  const keys = (["name", "sessionPrefix"] as const).filter((key) => file[key] !== undefined);
  if (keys.length === 0) return { projects: [], warnings: [] };
  const repository = await repositoryOf(dirname(path));
  if (repository === undefined) {
    const warning = `${path}: these keys have no effect outside of a repository: ${keys.join(", ")}`;
    return { projects: [], warnings: [warning] };
  }
  const project: ConfiguredProject = {
    id: null,
    name: file.name ?? null,
    path: repository,
    prefix: file.sessionPrefix ?? null,
    defaultBranch: file.defaultBranch ?? null,
  };
  return { projects: [project], warnings: [] };
}

async function localConfig(
  yaml: YamlFile,
  { file, warnings }: Extract<ReturnType<typeof validateFile>, { kind: "local" }>,
  repositoryOf: LoadConfigOptions["repositoryOf"],
): Promise<Config> {
  // A file outside of any repository is a person's own and applies everywhere.
  const applies = async (project: Project | null): Promise<boolean> => {
    const repository = await repositoryOf(dirname(yaml.path));
    return repository === undefined || repository === project?.repositoryPath;
  };
  const named = await namedByFile(yaml, file, repositoryOf);
  return {
    path: yaml.path,
    warnings: [...warnings, ...named.warnings, ...ignoredNames(yaml, ["env"], file.env)],
    projects: named.projects,
    agents: [...namedAgents(yaml, ["defaults"], file.defaults), ...namedAgents(yaml, [], file)],
    declaredAgents: declarationsOf(file.agents),
    settingsFor: async (project, kind) =>
      sessionSettings(
        {
          block: (await applies(project)) ? file : {},
          blockKey: [],
          defaults: file.defaults,
          originOf: (key) => `${yaml.path}:${yaml.lineOf(key)}`,
          directory: project?.repositoryPath ?? dirname(yaml.path),
        },
        kind,
      ),
    ignoredFor: async (project) => ((await applies(project)) && ignoredOf(file)) || NO_IGNORED_RULE,
  };
}

/**
 * Reads and checks one file. A module of its own: what checks a file takes longer to load than all else of a command.
 *
 * @throws AoError config_invalid with file and line for a file that cannot be used.
 * @throws as `loadConfig`.
 */
export async function readConfig(path: string, { home, repositoryOf }: LoadConfigOptions): Promise<Config> {
  const yaml = readYaml(path);
  const parsed = validateFile(yaml);
  return parsed.kind === "shared"
    ? sharedConfig(yaml, parsed, home)
    : localConfig(yaml, parsed, repositoryOf);
}
