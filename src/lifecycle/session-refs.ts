import { AoError, isAoError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { RuntimeTarget } from "../ports/runtime.ts";
import type { UnreadableSession } from "../ports/session-store.ts";
import type { WorkspaceRef } from "../ports/workspace.ts";
import type { SessionDeps } from "./deps.ts";

/** Longest part of an unknown name that an error repeats, in UTF-16 code units. */
const MAX_SHOWN = 80;

/** The runtime a session remembers, or `undefined` when none was recorded. */
export function runtimeTarget({ id, metadata }: SessionRecord): RuntimeTarget | undefined {
  if (metadata.runtime === null) return undefined;
  const { launchId, runtime: handle, process } = metadata;
  return { sessionId: id, launchId, handle, process };
}

/** The workspace a session remembers. */
export function workspaceRef({ id, projectId, metadata }: SessionRecord): WorkspaceRef {
  const { repositoryPath, workspacePath } = metadata;
  return { projectId, sessionId: id, repositoryPath, path: workspacePath };
}

/** @throws AoError session_not_found */
export function requireSession({ store }: Pick<SessionDeps, "store">, id: SessionId): SessionRecord {
  const record = store.get(id);
  if (record === undefined) throw sessionNotFound(id);
  return record;
}

/** Whether a session has a row, also one that cannot be read. */
export function hasRow({ store }: Pick<SessionDeps, "store">, id: SessionId): boolean {
  try {
    return store.get(id) !== undefined;
  } catch (error) {
    if (isAoError(error, "store_corrupt")) return true;
    throw error;
  }
}

/** Why nothing is done with a session, as one clause. Pure. */
export function describeUnreadable({ flaw }: Pick<UnreadableSession, "flaw">): string {
  return `its row in the store cannot be read (${flaw}); nothing was done with it`;
}

/** The error for a name, of any length and content, that is no session's. */
export function sessionNotFound(name: string): AoError {
  const shown = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
  return new AoError("session_not_found", `no session ${JSON.stringify(shown)}`, { hint: "ao list" });
}
