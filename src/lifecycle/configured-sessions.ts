import { isAoError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { PermissionMode, SessionKind, SessionRecord } from "../domain/session.ts";
import type { Config, ConfiguredProject, SessionSettings } from "../ports/config.ts";
import { explainTaken } from "./branch-taken.ts";
import type { OnStep, SessionDeps } from "./deps.ts";
import type { ForkRequest, ForkResult } from "./forks/fork-request.ts";
import { forkSession } from "./forks/fork-session.ts";
import { requireAgent } from "./launch-agent.ts";
import {
  type ProjectSettings,
  type ResolvedProject,
  requireProject,
  resolveAgain,
} from "./projects/projects.ts";
import type { RequestOptions } from "./request-options.ts";
import type { RestoreOptions } from "./restore/restore-options.ts";
import type { RestoreResult } from "./restore/restore-result.ts";
import { restoreSession } from "./restore/restore-session.ts";
import type { SpawnGoal, SpawnRequest } from "./spawn/spawn-request.ts";
import { checkSpawn, type SpawnResult, spawnSession } from "./spawn/spawn-session.ts";

/** Tries of a spawn whose project others keep registering and forgetting. */
const MAX_TRIES = 5;

/** What the functions here need of an opened `ao`. */
export interface ConfiguredDeps {
  readonly deps: SessionDeps;
  readonly cwd: string;
  config(recordedPath?: string | null): Promise<Config>;
}

/** A project with what the configuration says for one kind of session in it. */
export interface SpawnPlan {
  /** Registered, if it is not, by the first spawn that gets through its checks. */
  readonly found: ResolvedProject;
  /** The projects of the configuration. */
  readonly configured: readonly ConfiguredProject[];
  readonly kind: SessionKind;
  readonly settings: SessionSettings;
  /** Name of the agent that is to run. */
  readonly agent: string;
  readonly configPath: string | null;
}

/** What a person asks for; `null` is left to the configuration or derived. */
export interface SpawnInput extends RequestOptions {
  readonly agentArgs: readonly string[];
  readonly issueId: string | null;
  readonly title: string | null;
  readonly prompt: string | null;
  readonly branch: string | null;
  readonly baseRef: string | null;
  readonly model: string | null;
  readonly permissions: PermissionMode | null;
  readonly goal?: SpawnGoal;
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
    pool: settings.pool.value,
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
 * Finds the project to spawn in and its settings. Writes nothing.
 *
 * @throws AoError agent_not_found, project_not_found, config_invalid, git_unavailable
 */
export async function planSpawn(ao: ConfiguredDeps, place: SpawnPlace): Promise<SpawnPlan> {
  const config = await ao.config();
  if (place.agent !== null) requireAgent(ao.deps, place.agent);
  const { projects } = config;
  const found = await requireProject(ao.deps, { flag: place.project, cwd: ao.cwd, config: projects });
  const settings = await config.settingsFor(found.project, place.kind);
  return {
    found,
    configured: projects,
    kind: place.kind,
    settings,
    configPath: config.path,
    agent: place.agent ?? settings.agent.value,
  };
}

/**
 * Finds out whether a spawn can work, before there is anything to take back.
 *
 * @throws AoError as `spawnSession` before any side effect.
 */
export async function checkPlanned(
  { deps }: Pick<ConfiguredDeps, "deps">,
  plan: SpawnPlan,
  input: SpawnInput,
): Promise<void> {
  await checkSpawn(deps, requestOf(plan, plan.found, input));
}

/**
 * Spawns a session: what the request leaves open comes from the configuration. A project that is new is
 * registered, and forgotten again when its first spawn fails.
 *
 * @throws AoError project_exists, and as `spawnSession`.
 */
export async function spawnPlanned(
  { deps }: Pick<ConfiguredDeps, "deps">,
  plan: SpawnPlan,
  input: SpawnInput,
): Promise<SpawnResult> {
  const find = () => resolveAgain(deps, plan.found, plan.configured);
  const numberOf = oneNumberEach(deps.store);
  for (let tries = 1, found = find(); ; tries++) {
    try {
      return await spawnSession(deps, { ...requestOf(plan, found, input), numberOf });
    } catch (error) {
      const again = isMoved(error) && tries < MAX_TRIES ? find() : found;
      if (isSamePlace(again, found)) throw error;
      found = again;
    }
  }
}

/** A spawn that begins anew has the number that it took before: nothing was made with it. */
function oneNumberEach(store: Pick<SessionDeps["store"], "allocateSessionNumber">) {
  const taken = new Map<string, number>();
  return (prefix: string): number => {
    const number = taken.get(prefix) ?? store.allocateSessionNumber(prefix);
    taken.set(prefix, number);
    return number;
  };
}

/** Others may register or forget the project between the look and the beginning. */
function isMoved(error: unknown): boolean {
  return isAoError(error, "project_exists") || isAoError(error, "project_not_found");
}

function isSamePlace(one: ResolvedProject, other: ResolvedProject): boolean {
  return one.stored === other.stored && one.project.id === other.project.id;
}

function requestOf(
  { settings, ...plan }: SpawnPlan,
  { project, stored }: ResolvedProject,
  input: SpawnInput,
): SpawnRequest {
  return {
    ...input,
    registers: stored ? null : project,
    project: { ...project, defaultBranch: settings.defaultBranch.value ?? project.defaultBranch },
    settings: projectSettings(settings),
    kind: plan.kind,
    configPath: plan.configPath,
    agent: plan.agent,
    model: input.model ?? settings.model.value,
    permissions: input.permissions ?? settings.permissions.value,
  };
}

/**
 * The environment that the configuration of a session's project adds for it now.
 *
 * @throws AoError config_invalid
 */
export async function configuredEnv(
  ao: ConfiguredDeps,
  record: SessionRecord,
): Promise<Readonly<Record<string, string>>> {
  const config = await ao.config(record.metadata.configPath);
  const project = ao.deps.store.project(record.projectId) ?? null;
  return (await config.settingsFor(project, record.kind)).env.value;
}

/**
 * Forks a session with the settings its project has now, from the file it was spawned with.
 *
 * @throws AoError config_invalid, and as `forkSession`.
 */
export async function forkConfigured(
  ao: ConfiguredDeps,
  id: SessionId,
  request: Omit<ForkRequest, "settings">,
): Promise<ForkResult> {
  const settings = await settingsOf(ao, id);
  try {
    return await forkSession(ao.deps, id, { ...request, settings });
  } catch (error) {
    throw isAoError(error, "branch_in_use") ? await explainTaken(ao.deps, error, id) : error;
  }
}

/** What the configuration says now of a session that is there. */
async function settingsOf(ao: ConfiguredDeps, id: SessionId): Promise<ProjectSettings> {
  const record = ao.deps.store.get(id);
  const config = await ao.config(record?.metadata.configPath);
  const project = (record && ao.deps.store.project(record.projectId)) ?? null;
  return projectSettings(await config.settingsFor(project, record?.kind ?? "worker"));
}

/**
 * Restores a session with the settings its project has now, from the file it was spawned with.
 *
 * @throws AoError session_not_found, config_invalid, and as `restoreSession`.
 */
export async function restoreConfigured(
  ao: ConfiguredDeps,
  id: SessionId,
  options: Omit<RestoreOptions, "settings">,
): Promise<RestoreResult> {
  const settings = await settingsOf(ao, id);
  try {
    return await restoreSession(ao.deps, id, { ...options, settings });
  } catch (error) {
    throw isAoError(error, "branch_in_use") ? await explainTaken(ao.deps, error, id) : error;
  }
}
