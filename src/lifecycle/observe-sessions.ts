import type { SessionId } from "../domain/ids.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { SessionDeps } from "./deps.ts";

export interface ObserveResult {
  /** The sessions asked for as they now stand, by creation. */
  readonly sessions: readonly SessionRecord[];
  /** Those of them whose row changed. */
  readonly changed: readonly SessionId[];
  readonly lookFailures: readonly string[];
}

/**
 * What `listSessions` shows, saved: pending events and one look at all live sessions are applied to the
 * rows, then the applied events are removed. Without `ids` all sessions; unknown ids are left out.
 */
export declare function observeSessions(
  deps: Pick<SessionDeps, "store" | "runtime" | "inbox" | "agents" | "clock" | "ids">,
  ids?: readonly SessionId[],
): Promise<ObserveResult>;
