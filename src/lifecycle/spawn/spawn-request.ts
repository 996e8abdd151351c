import type { GoalControl } from "../../domain/goal-transitions.ts";
import type { Project } from "../../domain/project.ts";
import type { PermissionMode, SessionKind } from "../../domain/session.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import type { PrepareRequest } from "../operations/prepare-operation.ts";
import { registrationJson } from "../projects/project-registration.ts";
import type { ProjectSettings } from "../projects/projects.ts";
import type { RequestOptions } from "../request-options.ts";

export interface SpawnRequest extends RequestOptions {
  readonly project: Project;
  /**
   * The project as it is to be registered together with the beginning, and forgotten again when the spawn fails;
   * absent or `null` when `project` is registered.
   */
  readonly registers?: Project | null;
  /** A number of this prefix that an earlier try of the same spawn took and nothing used; else a new one is taken. */
  readonly numberOf?: (prefix: string) => number;
  readonly settings: ProjectSettings;
  /** Name of an agent adapter. */
  readonly agent: string;
  /** The user's own arguments for the agent, after `--`. */
  readonly agentArgs: readonly string[];
  readonly issueId: string | null;
  readonly title: string | null;
  /** The user's prompt, without the project's rules. */
  readonly prompt: string | null;
  /** `null` means: derived from issue and title, or from the session id and then always a new one. */
  readonly branch: string | null;
  /** Where a new branch starts; `null` means the default branch. */
  readonly baseRef: string | null;
  readonly kind: SessionKind;
  readonly model: string | null;
  readonly permissions: PermissionMode;
  readonly configPath: string | null;
  /** The standing objective that it begins with; absent for none. */
  readonly goal?: SpawnGoal;
  readonly onStep?: OnStep;
}

/** The goal that a session begins with. */
export type SpawnGoal = Pick<GoalControl, "maxTurns" | "until"> & { readonly objective: string };

/** The intent of a spawn, for a session whose number is not known yet. */
export function spawnIntent({ ids }: Pick<SessionDeps, "ids">, request: SpawnRequest): PrepareRequest {
  const { project, agent, agentArgs, issueId, title, prompt, branch, baseRef, kind, model } = request;
  return {
    kind: "spawn",
    projectId: project.id,
    sessionId: null,
    identifyingSessionId: null,
    subject: request.requestId ?? ids.uuid(),
    input: {
      ...{ agent, agentArgs, issueId, title, prompt, branch, baseRef, kind, model },
      permissions: request.permissions,
      ...(request.goal !== undefined && { goal: { ...request.goal } }),
    },
    progress: registrationJson(request.registers ?? null),
  };
}
