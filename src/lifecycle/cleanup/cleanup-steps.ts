import { type JsonValue, jsonMembers, toJson } from "../../domain/canonical-json.ts";
import { decideUnseen, type Stays, skip } from "../../domain/cleanup-plan.ts";
import { errorMessage } from "../../domain/errors.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { CompletedState, LeasedOperation, Operation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { SKIP_REASONS } from "../../domain/workspace-finding.ts";
import type { SessionDeps } from "../deps.ts";
import { refuseRival } from "../launch-owner.ts";
import { lifecycleManager } from "../lifecycle-manager.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { afterFreed } from "../salvage/freed-error.ts";
import { hasFreed, keepAndFree, salvageOf } from "../salvage/keep-and-free.ts";
import { runtimeTarget } from "../session-refs.ts";
import { removeEndedLaunch } from "../teardown.ts";
import { isRefusal } from "../workspace-refusal.ts";
import { factsNow, staysFor } from "./cleanup-facts.ts";
import { deletePlanned } from "./merged-branches.ts";

/** Whether there may be something to free. */
export function isCandidate({ lifecycle, metadata }: SessionRecord): boolean {
  return isTerminal(lifecycle) && metadata.workspaceFreedAtMs === null;
}

/** Whether there is no worktree any more, and may be a branch that no cleanup has deleted. */
export function mayHaveBranch({ lifecycle, metadata }: SessionRecord): boolean {
  const { branch, deletedBranch } = metadata;
  const isDeleted = deletedBranch?.branch === branch && deletedBranch.mayStand !== true;
  return isFreed({ lifecycle, metadata }) && branch !== "" && !isDeleted;
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
 * @throws AoError teardown_incomplete as `freedError` when the worktree is gone and that could not be put on record.
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
  return endFreed(deps, held, { record, salvageRef, destroyed });
}

interface Destroyed {
  readonly record: SessionRecord;
  readonly salvageRef: string | null;
  /** What went wrong with its runtime; `null` for nothing. */
  readonly destroyed: string | null;
}

/** All that comes after its worktree is gone. May be repeated. */
async function endFreed(
  deps: SessionDeps,
  held: LeasedOperation,
  { record, salvageRef, destroyed }: Destroyed,
): Promise<Freed> {
  const littered = await removeLaunchFiles(deps, record);
  const { branchDeleted, problem } = await deleteBranch(deps, held, record);
  const trouble = [destroyed, littered, problem].filter((one) => one !== null).join("; ") || null;
  const result = { freed: true, trouble, salvageRef, branchDeleted };
  await afterFreed({ id: record.id, salvageRef, branchDeleted }, () =>
    crossing(deps, "cleanup.complete", () =>
      operationLedger(deps).complete(held, toJson(result), (store) => {
        lifecycleManager({ ...deps, store }).onWorkspaceFreed(record.id, salvageRef);
      }),
    ),
  );
  return { stays: null, salvageRef, branchDeleted, trouble };
}

/**
 * Deletes the planned branch of a session whose worktree was freed before, and completes the operation. Each step may
 * be repeated.
 *
 * @returns the branch; `null` when it stays, since it is not any more what was planned.
 * @throws AoError git_unavailable, git_failed.
 */
export async function finishBranch(
  deps: SessionDeps,
  held: LeasedOperation,
  record: SessionRecord,
): Promise<string | null> {
  const branch = await crossing(deps, "cleanup.branch.delete", () => deletePlanned(deps, held, record));
  await crossing(deps, "cleanup.complete", () =>
    operationLedger(deps).complete(held, { freed: false, branch }),
  );
  return branch;
}

/** Best effort, the worktree being gone by now. Returns what went wrong. */
async function removeLaunchFiles(deps: SessionDeps, record: SessionRecord): Promise<string | null> {
  try {
    await crossing(deps, "cleanup.launch.remove", () => removeEndedLaunch(deps, record));
    return null;
  } catch (error) {
    return `its worktree was freed, its launch files could not be removed: ${errorMessage(error)}`;
  }
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
  const result = toJson({ freed: false, why: why ?? null, stays, salvageRef: kept.salvageRef });
  await crossing(deps, "cleanup.complete", () => operationLedger(deps).complete(held, result));
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
  if (hasFreed(held) && record !== undefined) {
    await endFreed(deps, held, { record, salvageRef: salvageOf(held), destroyed: null });
    return;
  }
  await crossing(deps, "cleanup.complete", () => operationLedger(deps).complete(held, { freed: false }));
}

/** What the cleanup of one session came to, whoever has finished it. */
export function freedIn({ state }: Operation<CompletedState>): Freed {
  const { freed, stays, ...rest } = jsonMembers(state.result) ?? {};
  const [salvageRef, branchDeleted, trouble] = ["salvageRef", "branchDeleted", "trouble"].map((name) => {
    const value = rest[name];
    return typeof value === "string" ? value : null;
  });
  return {
    stays: freed === true ? null : staysIn(stays),
    ...{ salvageRef: salvageRef ?? null, branchDeleted: branchDeleted ?? null, trouble: trouble ?? null },
  };
}

function staysIn(json: JsonValue | undefined): Stays {
  const { kind, reason, detail, message } = jsonMembers(json ?? null) ?? {};
  const known = SKIP_REASONS.find((one) => one === reason);
  if (kind === "skip" && known !== undefined) return skip(known, String(detail));
  return { kind: "error", message: typeof message === "string" ? message : "it was broken off" };
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
