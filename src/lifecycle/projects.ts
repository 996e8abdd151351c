import { AoError } from "../domain/errors.ts";
import { parseProjectId } from "../domain/ids.ts";
import type { Project } from "../domain/project.ts";
import type { ConfiguredProject } from "../ports/config.ts";
import type { PostCreate } from "../ports/workspace.ts";
import type { SessionDeps } from "./deps.ts";
import { newProject, occupiesProject, type ProjectChoice, projectNotFound } from "./project-draft.ts";

/** What the configuration says of a project's sessions. */
export interface ProjectSettings {
  /** Environment for its agents and post-create commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Text that follows every prompt; `null` for none. */
  readonly agentRules: string | null;
  readonly postCreate: PostCreate;
}

type ProjectDeps = Pick<SessionDeps, "store" | "repositories" | "clock" | "callerEnv">;

export interface ResolveProjectRequest {
  /** `-p`; `null` when not given. */
  readonly flag: string | null;
  /** Absolute. */
  readonly cwd: string;
  /** The projects of the configuration; what it says of one outranks what is stored. */
  readonly config: readonly ConfiguredProject[];
  /** Registers the project when it is not stored yet. */
  readonly ensure: boolean;
}

export interface ResolvedProject {
  readonly project: Project;
  readonly stored: boolean;
}

/** A repository, and what the configuration says of it. */
interface Place {
  readonly repositoryPath: string;
  readonly configured: ConfiguredProject | undefined;
}

/**
 * Which project a command is about: the flag, else `AO_PROJECT_ID`, else the project of the repository
 * around `cwd`, which is a project by itself when nothing names it. A repository that is stored keeps its
 * id, whatever the configuration calls it.
 *
 * `undefined` only without `ensure`, when `cwd` is in no repository.
 *
 * @throws AoError project_not_found when the name is unknown, or with `ensure` outside of a repository.
 * @throws AoError project_exists with `ensure` when the configured id is that of another repository.
 * @throws AoError git_unavailable when git had to be asked and did not answer.
 */
export async function resolveProject(
  deps: ProjectDeps,
  request: ResolveProjectRequest & { readonly ensure: true },
): Promise<ResolvedProject>;
export async function resolveProject(
  deps: ProjectDeps,
  request: ResolveProjectRequest,
): Promise<ResolvedProject | undefined>;
export async function resolveProject(
  deps: ProjectDeps,
  request: ResolveProjectRequest,
): Promise<ResolvedProject | undefined> {
  const name = request.flag ?? (deps.callerEnv["AO_PROJECT_ID"] || null);
  const place = await (name === null ? placeHere(deps, request) : placeNamed(deps, request, name));
  if (place !== undefined) return atPlace(deps, request, place);
  if (!request.ensure) return undefined;
  throw new AoError("project_not_found", `${request.cwd} is in no git repository`, {
    hint: "run it in one, or name a project with -p",
  });
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
    insert(deps, project);
    return project;
  });
}

/**
 * Forgets a project. Its sessions stay in the store; the repository is not touched.
 *
 * @throws AoError project_not_found
 * @throws AoError project_in_use while a session of it lives or has a worktree; `details.sessions`.
 */
export function removeProject({ store }: Pick<SessionDeps, "store">, name: string): Project {
  return store.transaction(() => {
    const id = parseProjectId(name);
    const project = id && store.project(id);
    if (project === undefined) throw projectNotFound({ store }, name);
    const sessions = store.list(project.id).filter(occupiesProject);
    if (sessions.length > 0) {
      throw new AoError("project_in_use", `project ${project.id} has sessions that live or have a worktree`, {
        hint: `ao kill them, then: ao cleanup -p ${project.id}`,
        details: { sessions: sessions.map((session) => session.id) },
      });
    }
    store.removeProject(project.id);
    return project;
  });
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

function atPlace(deps: ProjectDeps, request: ResolveProjectRequest, place: Place): ResolvedProject {
  const found = lookUp(deps, request, place);
  if (found.stored || !request.ensure) return found;
  return deps.store.transaction(() => {
    // Looked up again: another command may have registered it, or taken the id.
    const again = lookUp(deps, request, place);
    if (!again.stored) insert(deps, again.project);
    return { project: again.project, stored: true };
  });
}

function lookUp(
  deps: ProjectDeps,
  { config }: ResolveProjectRequest,
  { repositoryPath, configured }: Place,
): ResolvedProject {
  const stored = deps.store.projectOfRepository(repositoryPath);
  if (stored === undefined) {
    const others = config.filter((entry) => entry !== configured).map(({ id }) => id);
    return { project: newProject(deps, repositoryPath, configured, others), stored: false };
  }
  const { name, prefix, defaultBranch } = configured ?? stored;
  const project = {
    ...stored,
    name,
    prefix: prefix ?? stored.prefix,
    defaultBranch: defaultBranch ?? stored.defaultBranch,
  };
  return { project, stored: true };
}

function insert({ store }: Pick<SessionDeps, "store">, project: Project): void {
  if (store.insertProject(project)) return;
  const holder = store.projectOfRepository(project.repositoryPath) ?? store.project(project.id);
  const what = holder?.repositoryPath === project.repositoryPath ? project.repositoryPath : project.id;
  throw new AoError("project_exists", `${what} is registered already, as ${holder?.id}`, {
    hint: "ao project list",
    details: { id: holder?.id ?? null, repositoryPath: holder?.repositoryPath ?? null },
  });
}
