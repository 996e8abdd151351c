import { jsonMembers } from "../../domain/canonical-json.ts";
import { isAoError } from "../../domain/errors.ts";
import type { ProjectId } from "../../domain/ids.ts";
import { isDueAnew } from "../../domain/operation-schedule.ts";
import type { MarkedWorkspace } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { judgeOrphan } from "../recovery/judge-orphans.ts";
import type { RecoveryError } from "../recovery/recovery.ts";
import { type Sound, soundly, undoWorkspace } from "../recovery/undo-orphans.ts";
import { type Attempted, attempt } from "./attempt.ts";
import { fillPool } from "./fill-pool.ts";
import { type JudgedPool, type JudgedSpare, judgePools } from "./judge-pools.ts";
import type { PoolChange } from "./pool-change.ts";

export interface TendedPools {
  readonly pool: readonly PoolChange[];
  readonly errors: readonly RecoveryError[];
}

export interface TendOptions {
  /** `null` means all projects. */
  readonly projectId: ProjectId | null;
  /** Also makes what is missing. */
  readonly fills: boolean;
}

/** One process at a time, so that no two make what one is missing. */
const LOCK = "pools";
/** After so many failures in a row no wait gets longer. */
const LOOK_BACK = 10;
const NOTHING: TendedPools = { pool: [], errors: [] };

/**
 * Removes the worktrees made ahead that are of no use any more and hold nothing to lose, and makes those that are
 * missing: never more than asked for, those that had to stay counted. Nothing where another process is at it. What
 * could not be made is tried again after the backoff of the ledger.
 *
 * @throws AoError data_dir_unusable
 */
export async function tendPools(deps: SessionDeps, options: TendOptions): Promise<TendedPools> {
  const { value: pools, errors } = await judgePools(deps, options.projectId);
  if (!pools.some((pool) => isWork(pool, options))) return { pool: [], errors };
  try {
    return await deps.locks.withLock(LOCK, () => tendJudged(deps, options), { waitMs: 0 });
  } catch (error) {
    if (isAoError(error, "operation_in_progress")) return NOTHING;
    throw error;
  }
}

/**
 * What `tendPools` would remove and keep now. Changes nothing.
 *
 * @throws AoError data_dir_unusable
 */
export async function planPools(deps: SessionDeps, projectId: ProjectId | null): Promise<TendedPools> {
  const { value: pools, errors } = await judgePools(deps, projectId);
  const spares = pools.flatMap((pool) => pool.spares);
  const planned = await Promise.all(
    spares.map((spare) =>
      attempt(`worktree ${spare.workspace.ref.path}`, () => planRemoval(deps, spare), null),
    ),
  );
  return {
    pool: planned.flatMap(({ value }) => value ?? []),
    errors: [...errors, ...planned.flatMap((each) => each.errors)],
  };
}

async function planRemoval(deps: SessionDeps, { workspace, unwanted }: JudgedSpare) {
  if (unwanted === null || isTaken(deps, workspace)) return null;
  const { holds } = await judgeOrphan(deps, workspace);
  return changeOf(workspace, unwanted, holds);
}

/** Trouble with the worktrees made ahead is told, and what was done beside them as well. @throws what is no AoError */
export function untendedPools(error: unknown): TendedPools {
  if (!isAoError(error)) throw error;
  const { code, message } = error;
  return { pool: [], errors: [{ subject: "worktrees made ahead", code, message }] };
}

type Wanted = NonNullable<JudgedPool["wanted"]>;

/** What a spawn is just taking is not ours to judge. */
function isTaken({ operations }: SessionDeps, { operationId }: MarkedWorkspace): boolean {
  return operations.unfinished().operations.some(({ id }) => id === operationId);
}

function changeOf({ ref }: MarkedWorkspace, unwanted: string, holds: string | null): PoolChange {
  const { projectId, path: where } = ref;
  if (holds === null) return { projectId, where, action: "removed", detail: unwanted };
  return { projectId, where, action: "kept", detail: `${unwanted}, and it holds ${holds}` };
}

function isWork({ wanted, spares }: JudgedPool, { fills }: TendOptions): boolean {
  const isMissing = fills && wanted !== null && spares.length < wanted.size;
  return isMissing || spares.some(({ unwanted }) => unwanted !== null);
}

/** Judged anew: what was seen before the lock may be done by now. */
async function tendJudged(deps: SessionDeps, { projectId, fills }: TendOptions): Promise<TendedPools> {
  const { value: pools, errors } = await judgePools(deps, projectId);
  const sight = soundly(deps);
  const tended: TendedPools[] = [{ pool: [], errors }];
  for (const pool of pools) {
    const removed = await removeUnwanted(sight, pool);
    tended.push(removed);
    if (fills && pool.wanted !== null) tended.push(await fillUp(deps, pool, goneOf(removed)));
  }
  return {
    pool: tended.flatMap((each) => each.pool),
    errors: tended.flatMap((each) => each.errors),
  };
}

const goneOf = ({ pool }: TendedPools): number => pool.filter(({ action }) => action === "removed").length;

async function removeUnwanted(sight: Sound, { spares }: JudgedPool): Promise<TendedPools> {
  const outcomes: Attempted<PoolChange | null>[] = [];
  for (const { workspace, unwanted } of spares) {
    if (unwanted === null || isTaken(sight, workspace)) continue;
    const subject = `worktree ${workspace.ref.path}`;
    outcomes.push(await attempt(subject, () => remove(sight, { workspace, unwanted }), null));
  }
  return {
    pool: outcomes.flatMap(({ value }) => value ?? []),
    errors: outcomes.flatMap(({ errors }) => errors),
  };
}

async function remove(
  sight: Sound,
  { workspace, unwanted }: JudgedSpare & { readonly unwanted: string },
): Promise<PoolChange | null> {
  const undone = await undoWorkspace(sight, workspace);
  if (undone === null) return null;
  return changeOf(workspace, unwanted, undone.action === "undone" ? null : undone.detail);
}

/** Fills from this very base that failed are not tried at every tick. One that a death broke off has not failed. */
function isFillDue({ operations, clock }: SessionDeps, { project, base }: Wanted): boolean {
  const { operations: newest } = operations.ofKind("fill_pool", project.id, LOOK_BACK);
  const fills = newest.filter(({ state }) => state.kind !== "failed" || state.error.code !== "interrupted");
  const other = fills.findIndex(({ input }) => jsonMembers(input)?.["baseCommit"] !== base.baseCommit);
  return isDueAnew(other < 0 ? fills : fills.slice(0, other), clock.nowMs());
}

async function fillUp(
  deps: SessionDeps,
  { wanted, spares }: JudgedPool,
  removed: number,
): Promise<TendedPools> {
  const made: PoolChange[] = [];
  if (wanted === null) return NOTHING;
  const { project, size, base } = wanted;
  if (!isFillDue(deps, wanted)) return NOTHING;
  for (let missing = size - (spares.length - removed); missing > 0; missing -= 1) {
    const subject = `pool of ${project.id}`;
    const { value: where, errors } = await attempt(subject, () => fillPool(deps, project, base), null);
    // What kept the first one from being made keeps the next one as well.
    if (where === null) return { pool: made, errors };
    made.push({ projectId: project.id, where, action: "made", detail: `from ${base.baseRef}` });
  }
  return { pool: made, errors: [] };
}
