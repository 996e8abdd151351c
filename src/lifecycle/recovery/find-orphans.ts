import { parseSessionId } from "../../domain/ids.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { MarkedRuntime } from "../../ports/runtime.ts";
import type { MarkedWorkspace } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import type { Orphan } from "./reconcile-result.ts";

/** What carries our marks and has no owner. */
export interface Orphans {
  readonly runtimes: readonly MarkedRuntime[];
  readonly workspaces: readonly MarkedWorkspace[];
}

/** What owns things: rows, and the sessions that operations work on. */
interface Owners {
  readonly rows: readonly SessionRecord[];
  readonly busy: ReadonlySet<string>;
  /** The row of an operation or a session cannot be read, and not even its session is known: it may own anything. */
  readonly isBlind: boolean;
}

/**
 * Runtimes and worktrees that no session and no unfinished operation owns; those that were made ahead are nobody's
 * by intent, and none. Changes nothing. What another process just makes is none: the world is listed before those who may own it are read.
 *
 * @throws AoError runtime_unavailable, data_dir_unusable when it could not look.
 */
export async function findOrphans(deps: SessionDeps): Promise<Orphans> {
  const [runtimes, workspaces] = await Promise.all([deps.runtime.marked(), deps.workspace.marked()]);
  const owners = readOwners(deps);
  return {
    runtimes: runtimes.filter((runtime) => !ownsRuntime(owners, runtime)),
    workspaces: workspaces.filter(
      (workspace) => workspace.spare === undefined && !ownsWorkspace(owners, workspace),
    ),
  };
}

function readOwners({ store, operations }: SessionDeps): Owners {
  // Operations before rows: one that ends in between has left its row.
  const { operations: unfinished, unreadable } = operations.unfinished();
  const { sessions: rows, unreadable: damaged } = store.rows();
  const sessions = [...unfinished, ...unreadable].flatMap(({ sessionId }) => sessionId ?? []);
  const isBlind =
    unreadable.some(({ sessionId }) => sessionId === null) ||
    damaged.some(({ id }) => parseSessionId(id) === undefined);
  return { rows, busy: new Set([...sessions, ...damaged.map(({ id }) => id)]), isBlind };
}

function ownsRuntime({ rows, busy, isBlind }: Owners, { sessionId, launchId }: MarkedRuntime): boolean {
  const ofRow = ({ id, metadata }: SessionRecord) => id === sessionId && metadata.launchId === launchId;
  return isBlind || busy.has(sessionId) || rows.some(ofRow);
}

function ownsWorkspace({ rows, busy, isBlind }: Owners, { ref }: MarkedWorkspace): boolean {
  const ofRow = ({ id, metadata }: SessionRecord) =>
    id === ref.sessionId && metadata.workspacePath === ref.path && metadata.workspaceFreedAtMs === null;
  return isBlind || busy.has(ref.sessionId) || rows.some(ofRow);
}

/** An orphan runtime as it is told. */
export function runtimeOrphan(
  { sessionId, handle }: MarkedRuntime,
  told: Pick<Orphan, "action" | "detail">,
): Orphan {
  return { kind: "runtime", where: `${handle.id} on ${handle.socketPath}`, sessionId, ...told };
}

/** An orphan worktree as it is told. */
export function workspaceOrphan({ ref }: MarkedWorkspace, told: Pick<Orphan, "action" | "detail">): Orphan {
  return { kind: "worktree", where: ref.path, sessionId: ref.sessionId, ...told };
}

/** All orphans, only named. */
export function nameOrphans({ runtimes, workspaces }: Orphans): readonly Orphan[] {
  return [
    ...runtimes.map((runtime) => {
      const detail =
        runtime.process === null ? "its agent is dead" : `its agent runs as ${runtime.process.pid}`;
      return runtimeOrphan(runtime, { action: "found", detail });
    }),
    ...workspaces.map((workspace) =>
      workspaceOrphan(workspace, { action: "found", detail: workspace.flaw ?? "no session has it" }),
    ),
  ];
}

const NO_STORE = "there is no store that could tell whose it is";

/**
 * All that carries our marks where the store is missing: it may be lost, and what is there may be of its sessions.
 * Changes nothing.
 *
 * @throws AoError as `findOrphans`.
 */
export async function keptWithoutStore(deps: SessionDeps): Promise<readonly Orphan[]> {
  const { runtimes, workspaces } = await findOrphans(deps);
  const told = { action: "kept", detail: NO_STORE } as const;
  return [
    ...runtimes.map((runtime) => runtimeOrphan(runtime, told)),
    ...workspaces.map((workspace) => workspaceOrphan(workspace, told)),
  ];
}
