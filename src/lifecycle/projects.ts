import type { ProjectId } from "../domain/ids.ts";
import type { Project } from "../domain/project.ts";
import type { PostCreate } from "../ports/workspace.ts";
import type { SessionDeps } from "./deps.ts";

/** What the configuration file says of a project's identity. Its richer type may extend this one. */
export interface ConfiguredProject {
  readonly id: ProjectId;
  readonly name: string;
  /** Absolute and resolved path of the repository. */
  readonly path: string;
  /** `null` means: derived from the folder's name. */
  readonly prefix: string | null;
  /** `null` means: ask git. */
  readonly defaultBranch: string | null;
}

/** What the configuration says of a project's sessions. */
export interface ProjectSettings {
  /** Environment for its agents and post-create commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Text that follows every prompt; `null` for none. */
  readonly agentRules: string | null;
  readonly postCreate: PostCreate;
}

export type ProjectDeps = Pick<SessionDeps, "store" | "repositories" | "clock" | "callerEnv">;

export interface ResolveProjectRequest<Configured extends ConfiguredProject = ConfiguredProject> {
  /** `-p`; `null` when not given. */
  readonly flag: string | null;
  readonly cwd: string;
  readonly config: readonly Configured[];
  /** Registers the project when it is not stored yet. */
  readonly ensure: boolean;
}

export interface ResolvedProject<Configured extends ConfiguredProject = ConfiguredProject> {
  readonly project: Project;
  /** Its entry in the configuration. */
  readonly configured: Configured | null;
  readonly stored: boolean;
}

/**
 * Which project a command is about: the flag, else `AO_PROJECT_ID`, else the project of the repository
 * around `cwd`, which is a project by itself when nothing names it.
 *
 * `undefined` only without `ensure`, when `cwd` is in no repository.
 *
 * @throws AoError project_not_found when the name is unknown, or with `ensure` outside of a repository.
 * @throws AoError git_unavailable when git had to be asked and did not answer.
 */
export declare function resolveProject<Configured extends ConfiguredProject>(
  deps: ProjectDeps,
  request: ResolveProjectRequest<Configured> & { readonly ensure: true },
): Promise<ResolvedProject<Configured>>;
export declare function resolveProject<Configured extends ConfiguredProject>(
  deps: ProjectDeps,
  request: ResolveProjectRequest<Configured>,
): Promise<ResolvedProject<Configured> | undefined>;

export interface AddProjectRequest {
  /** A folder in the repository, absolute. */
  readonly path: string;
  /** `null` means: derived from the folder's name. */
  readonly id: string | null;
  readonly name: string | null;
  readonly prefix: string | null;
  readonly defaultBranch: string | null;
}

/**
 * Registers the repository around a folder.
 *
 * @throws AoError usage when there is no repository, or the id or prefix is not valid.
 * @throws AoError project_exists when the repository or the id is registered already.
 */
export declare function addProject(deps: ProjectDeps, request: AddProjectRequest): Promise<Project>;

/**
 * Forgets a project. Its terminated sessions stay in the store; the repository is not touched.
 *
 * @throws AoError project_not_found
 * @throws AoError project_in_use while a session of it lives or has a worktree; `details.sessions`.
 */
export declare function removeProject(deps: Pick<SessionDeps, "store">, id: string): Project;

/** All registered projects by id. */
export declare function listProjects(deps: Pick<SessionDeps, "store">): readonly Project[];
