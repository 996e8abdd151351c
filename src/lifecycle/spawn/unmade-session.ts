import { AoError, isAoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { SessionDeps } from "../deps.ts";

/**
 * The failure of a spawn for those who are shown it. What failed of an agent's start names its session, which was
 * taken back and which no command knows: then it says so first. Any other error stays as it is.
 */
export function sayingUnmade({ store }: Pick<SessionDeps, "store">, error: unknown, id: SessionId): unknown {
  if (!isAoError(error, "agent_start_failed") || store.get(id) !== undefined) return error;
  const { code, message, hint, details } = error;
  return new AoError(code, `no session was made: ${message}`, {
    ...(hint !== null && { hint }),
    details,
    cause: error.cause ?? error,
  });
}
