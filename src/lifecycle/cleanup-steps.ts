import { jsonMembers, toJson } from "../domain/canonical-json.ts";
import { decideUnseen, type Stays } from "../domain/cleanup-plan.ts";
import { errorMessage } from "../domain/errors.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { LeasedOperation } from "../domain/operation.ts";
import type { SessionRecord } from "../domain/session.ts";
import { factsNow, staysFor } from "./cleanup-facts.ts";
import type { SessionDeps } from "./deps.ts";
import { refuseRival } from "./launch-owner.ts";
import { lifecycleManager } from "./lifecycle-manager.ts";
import { deletePlanned } from "./merged-branches.ts";
import { crossing } from "./operations/crossing.ts";
import { operationLedger } from "./operations/ledger.ts";
import { requireOperation } from "./operations/write-operation.ts";
import { hasFreed, keepAndFree, salvageOf } from "./salvage/keep-and-free.ts";
import { runtimeTarget } from "./session-refs.ts";
import { removeEndedLaunch } from "./teardown.ts";
import { isRefusal } from "./workspace-refusal.ts";

/** Whether there may be something to free. */
export function isCandidate({ lifecycle, metadata }: SessionRecord): boolean {
  return isTerminal(lifecycle) && metadata.workspaceFreedAtMs === null;
}

/** Whether there is no worktree any more, and may be a branch that no cleanup has deleted. */
export function mayHaveBranch({ lifecycle, metadata }: SessionRecord): boolean {
  const { branch, deletedBranch } = metadata;
  return isFreed({ lifecycle, metadata }) && branch !== "" && deletedBranch?.branch !== branch;
}

function isFreed({ lifecycle, metadata }: Pick<SessionRecord, "lifecycle" | "metadata">): boolean {
  return isTerminal(lifecycle) && metadata.workspaceFreedAtMs !== null;
}

/** What became of one worktree. */
export interface Freed {
  /** Why it was left after all; `null` when it is gone. */
  readonly stays: Stays | null;
  /** Where its work is kept; `null` when nothing was. */
  readonly salvageRef: string | null;
  /** The branch that went with it; `null` when it stays. */
  readonly branchDeleted: string | null;
  /** What did not go well beside it. */
  readonly trouble: string | null;
}

/** Whoever planned it has judged how long ago it ended, and time only goes on. */
const ANY_AGE = { olderThanMs: null };

/**
 * Frees the worktree of one terminated session and completes the operation; a worktree that has to stay after all
 * completes it, too: what the plan was made from is looked at once more. Each step may be repeated.
 *
 * @throws AoError as `Workspace.destroy` but for a refusal; runtime_unavailable when nobody could look.
 */
export async function finishCleanup(
  deps: SessionDeps,
  held: LeasedOperation,
  record: SessionRecord,
): Promise<Freed> {
  const late = decideUnseen(await factsNow(deps, record), ANY_AGE);
  if (late !== null) return leave(deps, held, { stays: late, salvageRef: null });
  const destroyed = await removeDeadRuntime(deps, record);
  const ended = () => operationLedger(deps).checkpoint(held, held.progress);
  await crossing(deps, "cleanup.ended", ended);
  const { refusal, salvageRef } = await freeWorkspace(deps, held, record);
  if (refusal !== null) return leave(deps, held, { stays: staysFor(refusal), salvageRef });
  await crossing(deps, "cleanup.launch.remove", () => removeEndedLaunch(deps, record));
  const { branchDeleted, problem } = await deleteBranch(deps, held, record);
  const trouble = [destroyed, problem].filter((one) => one !== null).join("; ") || null;
  const result = { freed: true, trouble, salvageRef, branchDeleted };
  await crossing(deps, "cleanup.complete", () =>
    operationLedger(deps).complete(held, toJson(result), (store) => {
      lifecycleManager({ ...deps, store }).onWorkspaceFreed(record.id, salvageRef);
    }),
  );
  return { stays: null, salvageRef, branchDeleted, trouble };
}

/**
 * Deletes the planned branch of a session whose worktree was freed before, and completes the operation. Each step may be
 * repeated.
 *
 * @returns the branch; `null` when it stays, since it is not any more what was planned.
 * @throws AoError git_unavailable, git_failed.
 */
export async function finishBranch(
  deps: SessionDeps,
  held: LeasedOperation,
  record: SessionRecord,
): Promise<string | null> {
  const branchDeleted = await crossing(deps, "cleanup.branch.delete", () =>
    deletePlanned(deps, held, record),
  );
  await crossing(deps, "cleanup.complete", () =>
    operationLedger(deps).complete(held, { freed: false, branchDeleted }),
  );
  return branchDeleted;
}

/** Best effort, the worktree being gone by now. */
async function deleteBranch(deps: SessionDeps, held: LeasedOperation, record: SessionRecord) {
  if (jsonMembers(held.input)?.["merged"] === undefined) return { branchDeleted: null, problem: null };
  try {
    const branchDeleted = await crossing(deps, "cleanup.branch.delete", () =>
      deletePlanned(deps, held, record),
    );
    return { branchDeleted, problem: null };
  } catch (error) {
    return { branchDeleted: null, problem: `its branch could not be deleted: ${errorMessage(error)}` };
  }
}

async function leave(
  deps: SessionDeps,
  held: LeasedOperation,
  kept: Pick<Freed, "stays" | "salvageRef">,
): Promise<Freed> {
  const { stays } = kept;
  const why = stays?.kind === "skip" ? stays.detail : stays?.message;
  await crossing(deps, "cleanup.complete", () =>
    operationLedger(deps).complete(
      held,
      toJson({ freed: false, why: why ?? null, salvageRef: kept.salvageRef }),
    ),
  );
  return { ...kept, branchDeleted: null, trouble: null };
}

/**
 * Carries on a cleanup that its process left.
 *
 * @throws AoError as `finishCleanup`; it may be tried again then.
 */
export async function recoverCleanup(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  const record = held.sessionId === null ? undefined : deps.store.get(held.sessionId);
  if (record !== undefined && isCandidate(record)) {
    await finishCleanup(deps, held, record);
    return;
  }
  if (record !== undefined && isFreed(record) && isOfBranch(held)) {
    await finishBranch(deps, held, record);
    return;
  }
  const freed = hasFreed(held);
  if (freed && record !== undefined) await removeEndedLaunch(deps, record);
  await crossing(deps, "cleanup.complete", () => operationLedger(deps).complete(held, { freed }));
}

/** Whether the worktree was freed by another one before: what is left to do is the branch. */
function isOfBranch(held: LeasedOperation): boolean {
  return jsonMembers(held.input)?.["merged"] !== undefined && !hasFreed(held);
}

/** Best effort, as its agent was seen dead: the worktree does not depend on it. Returns what went wrong. */
async function removeDeadRuntime(deps: SessionDeps, record: SessionRecord): Promise<string | null> {
  const target = runtimeTarget(record);
  if (target === undefined) return null;
  try {
    await refuseRival(deps, record);
    await crossing(deps, "cleanup.runtime.destroy", () => deps.runtime.destroy(target));
    return null;
  } catch (error) {
    return `its worktree was freed, its runtime could not be removed: ${errorMessage(error)}`;
  }
}

async function freeWorkspace(
  deps: SessionDeps,
  held: LeasedOperation,
  record: SessionRecord,
): Promise<Pick<Freed, "salvageRef"> & { readonly refusal: unknown }> {
  const salvage = jsonMembers(held.input)?.["salvage"] === true;
  try {
    return { refusal: null, salvageRef: await keepAndFree(deps, { held, record, salvage }) };
  } catch (error) {
    // What was kept for nothing is on record all the same, and told.
    if (isRefusal(error)) return { refusal: error, salvageRef: salvageOf(requireOperation(deps, held.id)) };
    throw error;
  }
}
