import type { ProjectId, SessionId } from "../domain/ids.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { SessionDeps } from "./deps.ts";

export type ListDeps = Pick<SessionDeps, "store" | "runtime" | "inbox" | "agents" | "clock" | "ids">;

export interface ListOptions {
  /** `null` means all projects. */
  readonly projectId: ProjectId | null;
  /** Skips the live look and the inbox: what is stored is shown. */
  readonly stored: boolean;
}

export interface SessionList {
  /** By creation, then by number. */
  readonly sessions: readonly SessionRecord[];
  /** Unix milliseconds; `null` when the look was skipped. */
  readonly observedAtMs: number | null;
  /** Why a look failed, each cause once; empty when all could be seen. */
  readonly lookFailures: readonly string[];
}

/** Sessions as they are now: stored rows, pending events and one live look folded in memory. Writes nothing. */
export declare function listSessions(deps: ListDeps, options: ListOptions): Promise<SessionList>;

/**
 * One session as `listSessions` would show it.
 *
 * @throws AoError session_not_found
 */
export declare function getSession(
  deps: ListDeps,
  id: SessionId,
  options: Pick<ListOptions, "stored">,
): Promise<SessionRecord>;
