import type { SessionId } from "../domain/ids.ts";
import type { SessionDeps } from "./deps.ts";

/**
 * The session a person named: its id, `project:id`, or `@` for the one the command runs in
 * (`AO_SESSION_ID`). A prefix is never matched.
 *
 * @throws AoError usage for `@` outside of a session.
 * @throws AoError session_not_found when there is none of that name, or not in that project.
 */
export declare function resolveSessionId(
  deps: Pick<SessionDeps, "store" | "callerEnv">,
  text: string,
): SessionId;
