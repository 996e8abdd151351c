import type { Project } from "../domain/project.ts";
import type { PermissionMode, SessionKind, SessionRecord } from "../domain/session.ts";
import type { OnStep, SessionDeps } from "./deps.ts";
import type { ProjectSettings } from "./projects.ts";

export interface SpawnRequest {
  /** A registered project. */
  readonly project: Project;
  readonly settings: ProjectSettings;
  /** Name of an agent adapter. */
  readonly agent: string;
  /** The user's own arguments for the agent, after `--`. */
  readonly agentArgs: readonly string[];
  readonly issueId: string | null;
  readonly title: string | null;
  /** The user's prompt, without the project's rules. */
  readonly prompt: string | null;
  /** `null` means: derived from issue, title or session id. */
  readonly branch: string | null;
  /** Where a new branch starts; `null` means the default branch. */
  readonly baseRef: string | null;
  readonly kind: SessionKind;
  readonly model: string | null;
  readonly permissions: PermissionMode;
  readonly configPath: string | null;
  readonly onStep?: OnStep;
}

export interface SpawnResult {
  readonly record: SessionRecord;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}

/**
 * Makes a session: worktree, then runtime with the agent, then the row. A step that fails takes the
 * earlier ones back at once; what could not be taken back is in `details.left` of the first error.
 *
 * @throws AoError usage, agent_not_found, agent_unavailable, runtime_unavailable before any side effect.
 * @throws AoError as `Workspace.create` and `Runtime.create`.
 */
export declare function spawnSession(deps: SessionDeps, request: SpawnRequest): Promise<SpawnResult>;
