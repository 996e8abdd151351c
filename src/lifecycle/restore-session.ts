import type { SessionId } from "../domain/ids.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { OnStep, SessionDeps } from "./deps.ts";
import type { ProjectSettings } from "./projects.ts";

export interface RestoreOptions {
  /** Begins a new conversation with the recorded prompt instead of taking the old one up. */
  readonly fresh: boolean;
  readonly settings: ProjectSettings;
  readonly onStep?: OnStep;
}

export interface RestoreResult {
  readonly record: SessionRecord;
  readonly fresh: boolean;
  readonly warnings: readonly string[];
}

/**
 * Brings a terminated session back with its own files and conversation.
 *
 * @throws AoError session_not_found
 * @throws AoError not_restorable when it is not terminated, or its agent still runs.
 * @throws AoError agent_session_unknown when there is no conversation to take up; nothing was touched.
 * @throws AoError agent_not_found, agent_unavailable, runtime_unavailable before any side effect.
 * @throws AoError operation_in_progress when another restore was faster.
 * @throws AoError as `Workspace.restore` and `Runtime.create`; the session is still terminated then.
 */
export declare function restoreSession(
  deps: SessionDeps,
  id: SessionId,
  options: RestoreOptions,
): Promise<RestoreResult>;
