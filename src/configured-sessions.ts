import type { SessionId } from "./domain/ids.ts";
import type { Project } from "./domain/project.ts";
import type { PermissionMode, SessionKind } from "./domain/session.ts";
import type { OnStep, SessionDeps } from "./lifecycle/deps.ts";
import { requireAgent } from "./lifecycle/launch-agent.ts";
import { type ProjectSettings, resolveProject } from "./lifecycle/projects.ts";
import { type RestoreResult, restoreSession } from "./lifecycle/restore-session.ts";
import { type SpawnResult, spawnSession } from "./lifecycle/spawn-session.ts";
import type { Config, SessionSettings } from "./ports/config.ts";

/** What the functions here need of an opened `ao`. */
export interface ConfiguredDeps {
  readonly deps: SessionDeps;
  readonly cwd: string;
  config(recordedPath?: string | null): Promise<Config>;
}

/** A project with what the configuration says for one kind of session in it. */
export interface SpawnPlan {
  readonly project: Project;
  readonly kind: SessionKind;
  readonly settings: SessionSettings;
  /** Name of the agent that is to run. */
  readonly agent: string;
  readonly configPath: string | null;
}

/** What a person asks for; `null` is left to the configuration or derived. */
export interface SpawnInput {
  readonly agentArgs: readonly string[];
  readonly issueId: string | null;
  readonly title: string | null;
  readonly prompt: string | null;
  readonly branch: string | null;
  readonly baseRef: string | null;
  readonly model: string | null;
  readonly permissions: PermissionMode | null;
  readonly onStep?: OnStep;
}

/** A spawn that leaves everything open; spread it and name what is wanted. */
export const anEmptySpawn: SpawnInput = {
  agentArgs: [],
  issueId: null,
  title: null,
  prompt: null,
  branch: null,
  baseRef: null,
  model: null,
  permissions: null,
};

function projectSettings(settings: SessionSettings): ProjectSettings {
  return {
    env: settings.env.value,
    agentRules: settings.rules.value,
    postCreate: {
      symlinks: settings.symlinks.value,
      copy: settings.copy.value,
      commands: settings.postCreate.value,
      timeoutMs: settings.postCreateTimeoutMs.value,
    },
  };
}

/** Where and with what a person wants to spawn; `null` is left to the surroundings and the configuration. */
export interface SpawnPlace {
  readonly project: string | null;
  readonly kind: SessionKind;
  readonly agent: string | null;
}

/**
 * Finds the project to spawn in and its settings; registers it when it is new.
 *
 * @throws AoError agent_not_found, project_not_found, config_invalid, git_unavailable
 */
export async function planSpawn(ao: ConfiguredDeps, place: SpawnPlace): Promise<SpawnPlan> {
  if (place.agent !== null) requireAgent(ao.deps, place.agent);
  const config = await ao.config();
  const where = { flag: place.project, cwd: ao.cwd, config: config.projects, ensure: true } as const;
  const { project } = await resolveProject(ao.deps, where);
  const settings = await config.settingsFor(project, place.kind);
  return {
    project,
    kind: place.kind,
    settings,
    configPath: config.path,
    agent: place.agent ?? settings.agent.value,
  };
}

/**
 * Spawns a session: what the request leaves open comes from the configuration.
 *
 * @throws AoError as `spawnSession`.
 */
export function spawnPlanned(ao: ConfiguredDeps, plan: SpawnPlan, input: SpawnInput): Promise<SpawnResult> {
  const { settings, project } = plan;
  return spawnSession(ao.deps, {
    ...input,
    project: { ...project, defaultBranch: settings.defaultBranch.value ?? project.defaultBranch },
    settings: projectSettings(settings),
    kind: plan.kind,
    configPath: plan.configPath,
    agent: plan.agent,
    model: input.model ?? settings.model.value,
    permissions: input.permissions ?? settings.permissions.value,
  });
}

/**
 * Restores a session with the settings its project has now, from the file it was spawned with.
 *
 * @throws AoError session_not_found, config_invalid, and as `restoreSession`.
 */
export async function restoreConfigured(
  ao: ConfiguredDeps,
  id: SessionId,
  options: { readonly fresh: boolean; readonly onStep?: OnStep },
): Promise<RestoreResult> {
  const record = ao.deps.store.get(id);
  const config = await ao.config(record?.metadata.configPath);
  const project = (record && ao.deps.store.project(record.projectId)) ?? null;
  const settings = await config.settingsFor(project, record?.kind ?? "worker");
  return restoreSession(ao.deps, id, { ...options, settings: projectSettings(settings) });
}
