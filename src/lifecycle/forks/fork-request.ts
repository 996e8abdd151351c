import type { SessionId, TurnId } from "../../domain/ids.ts";
import type { Operation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { parsePrompt, parseTitle } from "../../domain/user-text.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import type { PrepareRequest } from "../operations/prepare-operation.ts";
import type { ProjectSettings } from "../projects/projects.ts";
import type { RequestOptions } from "../request-options.ts";

export interface ForkRequest extends RequestOptions {
  /** The last turn that both have; `null` for the last one that is over. */
  readonly turnId: TurnId | null;
  /** A new branch; `null` for one of the fork's own. */
  readonly branch: string | null;
  /** What its agent is sent first; `null` for nothing. */
  readonly prompt: string | null;
  /** `null` for the title of the family with a number. */
  readonly title: string | null;
  readonly settings: ProjectSettings;
  readonly onStep?: OnStep;
}

export interface ForkResult {
  readonly operation: Operation;
  readonly record: SessionRecord;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}

/** @throws AoError usage */
export function refuseBadText({ title, prompt }: ForkRequest): void {
  if (title !== null) parseTitle(title);
  if (prompt !== null) parsePrompt(prompt);
}

/** The intent of a fork, for a session whose number is not known yet. */
export function forkIntent(
  { ids }: Pick<SessionDeps, "ids">,
  { id: sourceId, projectId }: { readonly id: SessionId; readonly projectId: SessionRecord["projectId"] },
  { turnId, branch, prompt, title, requestId }: ForkRequest,
): PrepareRequest {
  return {
    ...{ kind: "fork", projectId, sessionId: null, identifyingSessionId: null, progress: null },
    subject: requestId ?? ids.uuid(),
    input: { sourceId, turnId, branch, prompt, title },
  };
}
