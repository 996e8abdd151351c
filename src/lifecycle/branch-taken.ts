import { AoError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { SessionDeps } from "./deps.ts";

/**
 * The refusal of a restore whose branch is checked out elsewhere: a spawn can take another one, a restore has but
 * the one. Says who has it and how that is changed.
 */
export async function explainTaken(
  deps: Pick<SessionDeps, "store" | "files">,
  error: AoError,
  id: SessionId,
): Promise<AoError> {
  const { path } = error.details;
  // Without a path it is taken only just now, and with one that is gone git has to forget that.
  if (typeof path !== "string" || !(await deps.files.exists(path))) return withHint(error, id, error.hint);
  const holder = deps.store.rows().sessions.find(({ metadata }) => metadata.workspacePath === path);
  const hint = holder === undefined ? `switch to another branch in ${path}` : `${holdsIt(holder)} in ${path}`;
  return withHint(error, id, hint);
}

function holdsIt({ id, lifecycle }: SessionRecord): string {
  const free = isTerminal(lifecycle) ? `free its worktree: ao kill ${id}` : `end it: ao kill ${id}`;
  return `session ${id} has it; ${free}, or switch to another branch`;
}

function withHint({ code, message, details, cause }: AoError, id: SessionId, hint: string | null): AoError {
  const first = hint === null ? "" : `${hint}, then: `;
  return new AoError(code, message, { hint: `${first}ao restore ${id}`, details, cause });
}
