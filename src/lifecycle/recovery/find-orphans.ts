import type { MarkedRuntime, RuntimeMark } from "../../ports/runtime.ts";
import type { MarkedWorkspace } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { type Owners, ownsRuntime, ownsWorkspace, readOwners } from "./owners.ts";
import type { Orphan } from "./reconcile-result.ts";

/** What carries our marks and has no owner. */
export interface Orphans {
  readonly runtimes: readonly MarkedRuntime[];
  readonly workspaces: readonly MarkedWorkspace[];
}

/**
 * Runtimes and worktrees that no session and no unfinished operation owns; those that were made ahead are nobody's
 * by intent, and none. Changes nothing. What another process just makes is none: the world is listed before those who
 * may own it are read. Where a look just listed all `marks` and each has an owner, the runtimes are not listed again.
 *
 * @throws AoError runtime_unavailable, data_dir_unusable when it could not look.
 */
export async function findOrphans(
  deps: SessionDeps,
  marks: readonly RuntimeMark[] | null = null,
): Promise<Orphans> {
  const [listed, workspaces] = await Promise.all([
    marks === null ? deps.runtime.marked() : null,
    deps.workspace.marked(),
  ]);
  const owners = readOwners(deps);
  if (listed !== null) return strangers(owners, { runtimes: listed, workspaces });
  const areOwned = (marks ?? []).every((mark) => ownsRuntime(owners, mark));
  if (areOwned) return strangers(owners, { runtimes: [], workspaces });
  const runtimes = await deps.runtime.marked();
  return strangers(readOwners(deps), { runtimes, workspaces });
}

function strangers(owners: Owners, { runtimes, workspaces }: Orphans): Orphans {
  return {
    runtimes: runtimes.filter((runtime) => !ownsRuntime(owners, runtime)),
    workspaces: workspaces.filter(
      (workspace) => workspace.spare === undefined && !ownsWorkspace(owners, workspace),
    ),
  };
}

type Told = Pick<Orphan, "action" | "detail"> & Partial<Pick<Orphan, "salvageRef" | "fix">>;

const NOTHING_KEPT = { salvageRef: null, fix: null };

/** An orphan runtime as it is told. */
export function runtimeOrphan({ sessionId, handle }: MarkedRuntime, told: Told): Orphan {
  const where = `${handle.id} on ${handle.socketPath}`;
  return { kind: "runtime", where, sessionId, ...NOTHING_KEPT, ...told };
}

/** An orphan worktree as it is told. */
export function workspaceOrphan({ ref }: MarkedWorkspace, told: Told): Orphan {
  return { kind: "worktree", where: ref.path, sessionId: ref.sessionId, ...NOTHING_KEPT, ...told };
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
