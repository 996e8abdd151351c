import { AoError } from "../domain/errors.ts";
import { parseSessionId, type SessionId } from "../domain/ids.ts";
import type { SessionDeps } from "./deps.ts";
import { sessionNotFound } from "./session-refs.ts";

/**
 * The session a person named: its id, `project:id`, or `@` for the one the command runs in
 * (`AO_SESSION_ID`). A prefix is never matched.
 *
 * @throws AoError usage for `@` outside of a session.
 * @throws AoError session_not_found when there is none of that name, or not in that project.
 */
export function resolveSessionId(deps: Pick<SessionDeps, "store" | "callerEnv">, text: string): SessionId {
  const name = text === "@" ? ownSession(deps.callerEnv) : text;
  const colon = name.indexOf(":");
  const id = parseSessionId(name.slice(colon + 1));
  const record = id && deps.store.get(id);
  const isThere = record !== undefined && (colon === -1 || record.projectId === name.slice(0, colon));
  if (!isThere) throw sessionNotFound(name);
  return record.id;
}

function ownSession(callerEnv: SessionDeps["callerEnv"]): string {
  const id = callerEnv["AO_SESSION_ID"];
  if (id !== undefined && id !== "") return id;
  throw new AoError("usage", "@ names the session a command runs in, and this one runs in none", {
    hint: "name a session; ao list shows them",
  });
}
