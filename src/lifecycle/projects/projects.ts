import { AoError } from "../../domain/errors.ts";
import { parseProjectId } from "../../domain/ids.ts";
import type { Project } from "../../domain/project.ts";
import type { ConfiguredProject } from "../../ports/config.ts";
import type { PostCreate } from "../../ports/post-create.ts";
import type { SessionDeps } from "../deps.ts";
import { tendPools } from "../pool/tend-pools.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import { newProject, occupiesProject, type ProjectChoice, projectNotFound } from "./project-draft.ts";
import { insertProject, refuseUnderWay } from "./project-registration.ts";

/** What the configuration says of a project's sessions. */
export interface ProjectSettings {
  /** Environment for its agents and post-create commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Text that follows every prompt; `null` for none. */
  readonly agentRules: string | null;
  readonly postCreate: PostCreate;
  /** How many worktrees are kept ready; none when not given. */
  readonly pool?: number;
}

type ProjectDeps = Pick<SessionDeps, "store" | "repositories" | "clock" | "callerEnv">;

export interface ResolveProjectRequest {
  /** `-p`; `null` when not given. */
  readonly flag: string | null;
  /** Absolute. */
  readonly cwd: string;
  /** The projects of the configuration; what it says of one outranks what is stored. */
  readonly config: readonly ConfiguredProject[];
}

export interface ResolvedProject {
  /** As it stands, or as a spawn would register it now. */
  readonly project: Project;
  readonly stored: boolean;
  readonly configured: ConfiguredProject | undefined;
}

/** A repository, and what the configuration says of it. */
interface Place {
  readonly repositoryPath: string;
  readonly configured: ConfiguredProject | undefined;
}

/**
 * Which project a command is about: the flag, else `AO_PROJECT_ID`, else the project of the repository
 * around `cwd`, which is a project by itself when nothing names it. A repository that is stored keeps its
 * id, whatever the configuration calls it. Writes nothing; `undefined` when `cwd` is in no repository.
 *
 * @throws AoError project_not_found when the name is unknown.
 * @throws AoError git_unavailable when git had to be asked and did not answer.
 */
export async function resolveProject(
  deps: ProjectDeps,
  request: ResolveProjectRequest,
): Promise<ResolvedProject | undefined> {
  const name = request.flag ?? (deps.callerEnv["AO_PROJECT_ID"] || null);
  const place = await (name === null ? placeHere(deps, request) : placeNamed(deps, request, name));
  return place && lookUp(deps, request, place);
}

/** As `resolveProject`. @throws AoError project_not_found also outside of a repository. */
export async function requireProject(
  deps: ProjectDeps,
  request: ResolveProjectRequest,
): Promise<ResolvedProject> {
  const found = await resolveProject(deps, request);
  if (found !== undefined) return found;
  throw new AoError("project_not_found", `${request.cwd} is in no git repository`, {
    hint: "run it in one, or name a project with -p",
  });
}

/** A project that was found, as it is or would be registered by now. Writes nothing. */
export function resolveAgain(
  deps: Pick<ProjectDeps, "store" | "clock">,
  { project, configured }: ResolvedProject,
  config: readonly ConfiguredProject[],
): ResolvedProject {
  return lookUp(deps, { config }, { repositoryPath: project.repositoryPath, configured });
}

/**
 * Registers the repository around a folder.
 *
 * @throws AoError usage when there is no repository, or the id or prefix is not valid.
 * @throws AoError project_exists when the repository or the id is registered already.
 * @throws AoError git_unavailable
 */
export async function addProject(
  deps: Omit<ProjectDeps, "callerEnv">,
  { path, ...choice }: ProjectChoice & { readonly path: string },
): Promise<Project> {
  const repository = await deps.repositories.find(path);
  if (repository === undefined) throw new AoError("usage", `${path} is in no git repository`);
  return deps.store.transaction(() => {
    const project = newProject(deps, repository.path, choice);
    insertProject(deps.store, project);
    return project;
  });
}

/** Whether the repository of a project is surely no more where it was registered. Never rejects. */
export async function isGone(
  { files }: Pick<SessionDeps, "files">,
  { repositoryPath }: Project,
): Promise<boolean> {
  const isThere = await files.exists(repositoryPath).catch(() => true);
  return !isThere;
}

/**
 * Forgets a project. Its sessions stay in the store; the repository is not touched, and worktrees that were made
 * ahead for it go. Worktrees of a repository
 * that is gone cannot be freed any more: they stay, and do not keep their project.
 *
 * @throws AoError project_not_found
 * @throws AoError operation_in_progress while a session of it is under way, with who and since when.
 * @throws AoError store_corrupt while an operation that cannot be read may be one of it.
 * @throws AoError project_in_use while a session of it lives or has a worktree; `details.sessions`.
 */
export async function removeProject(deps: SessionDeps, name: string): Promise<Project> {
  const { store, files } = deps;
  const named = registered({ store }, name);
  await recoverOperations(deps);
  const canBeFreed = !(await isGone({ files }, named));
  const removed = store.transaction(() => {
    const project = registered({ store }, name);
    refuseUnderWay(deps, project);
    const { sessions: known, unreadable } = store.rows(project.id);
    const sessions = [...known.filter((record) => occupiesProject(record, canBeFreed)), ...unreadable];
    if (sessions.length > 0) {
      throw new AoError("project_in_use", `project ${project.id} has sessions that live or have a worktree`, {
        hint: `ao kill them, then: ao cleanup -p ${project.id}`,
        details: { sessions: sessions.map((session) => session.id) },
      });
    }
    store.removeProject(project.id);
    return project;
  });
  // What has to stay is told by whoever reconciles next.
  await tendPools(deps, { projectId: removed.id, fills: false });
  return removed;
}

function registered({ store }: Pick<SessionDeps, "store">, name: string): Project {
  const id = parseProjectId(name);
  const project = id && store.project(id);
  if (project === undefined) throw projectNotFound({ store }, name);
  return project;
}

/** All registered projects by id. */
export function listProjects({ store }: Pick<SessionDeps, "store">): readonly Project[] {
  return store.projects();
}

async function placeHere(
  deps: ProjectDeps,
  { cwd, config }: ResolveProjectRequest,
): Promise<Place | undefined> {
  const repository = await deps.repositories.find(cwd);
  if (repository === undefined) return undefined;
  return { repositoryPath: repository.path, configured: entryFor(config, repository.path) };
}

async function placeNamed(
  deps: ProjectDeps,
  { config }: ResolveProjectRequest,
  name: string,
): Promise<Place> {
  const configured = config.find(({ id }) => id === name);
  if (configured !== undefined) return { repositoryPath: await repositoryOf(deps, configured), configured };
  const id = parseProjectId(name);
  const stored = id && deps.store.project(id);
  if (stored === undefined) throw projectNotFound(deps, name, config);
  return { repositoryPath: stored.repositoryPath, configured: entryFor(config, stored.repositoryPath) };
}

async function repositoryOf(deps: ProjectDeps, { id, path }: ConfiguredProject): Promise<string> {
  if (deps.store.projectOfRepository(path) !== undefined) return path;
  const repository = await deps.repositories.find(path);
  if (repository !== undefined) return repository.path;
  throw new AoError("project_not_found", `project ${id}: ${path} is in no git repository`, {
    hint: "correct the path in the configuration: ao config path",
  });
}

function entryFor(
  config: readonly ConfiguredProject[],
  repositoryPath: string,
): ConfiguredProject | undefined {
  return config.find(({ path }) => path === repositoryPath);
}

function lookUp(
  deps: Pick<ProjectDeps, "store" | "clock">,
  { config }: Pick<ResolveProjectRequest, "config">,
  { repositoryPath, configured }: Place,
): ResolvedProject {
  const stored = deps.store.projectOfRepository(repositoryPath);
  if (stored === undefined) {
    const others = config.filter((entry) => entry !== configured).flatMap(({ id }) => id ?? []);
    return { project: newProject(deps, repositoryPath, configured, others), stored: false, configured };
  }
  const project = {
    ...stored,
    name: configured?.name ?? stored.name,
    prefix: configured?.prefix ?? stored.prefix,
    defaultBranch: configured?.defaultBranch ?? stored.defaultBranch,
  };
  return { project, stored: true, configured };
}
