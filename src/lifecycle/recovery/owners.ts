import { parseSessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { RuntimeMark } from "../../ports/runtime.ts";
import type { MarkedWorkspace } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";

/** What owns things: rows, and the sessions that operations work on. */
export interface Owners {
  readonly rows: ReadonlyMap<string, SessionRecord>;
  readonly busy: ReadonlySet<string>;
  /** The row of an operation or a session cannot be read, and not even its session is known: it may own anything. */
  readonly isBlind: boolean;
}

/** As the store has them now. */
export function readOwners({ store, operations }: SessionDeps): Owners {
  // Operations before rows: one that ends in between has left its row.
  const { operations: unfinished, unreadable } = operations.unfinished();
  const { sessions: rows, unreadable: damaged } = store.rows();
  const sessions = [...unfinished, ...unreadable].flatMap(({ sessionId }) => sessionId ?? []);
  const isBlind =
    unreadable.some(({ sessionId }) => sessionId === null) ||
    damaged.some(({ id }) => parseSessionId(id) === undefined);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return { rows: byId, busy: new Set([...sessions, ...damaged.map(({ id }) => id)]), isBlind };
}

export function ownsRuntime({ rows, busy, isBlind }: Owners, { sessionId, launchId }: RuntimeMark): boolean {
  return isBlind || busy.has(sessionId) || rows.get(sessionId)?.metadata.launchId === launchId;
}

export function ownsWorkspace({ rows, busy, isBlind }: Owners, { ref }: MarkedWorkspace): boolean {
  const metadata = rows.get(ref.sessionId)?.metadata;
  const isOfRow = metadata?.workspacePath === ref.path && metadata.workspaceFreedAtMs === null;
  return isBlind || busy.has(ref.sessionId) || isOfRow;
}

/** Whether a launch is nobody's, or of a session that is over and that nobody works on. */
export function isLaunchOver(owners: Owners, launch: RuntimeMark): boolean {
  const { rows, busy, isBlind } = owners;
  const row = rows.get(launch.sessionId);
  const isEnded = row !== undefined && isTerminal(row.lifecycle);
  return !ownsRuntime(owners, launch) || (isEnded && !busy.has(launch.sessionId) && !isBlind);
}
