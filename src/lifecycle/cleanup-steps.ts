import { jsonMembers, toJson } from "../domain/canonical-json.ts";
import { errorMessage } from "../domain/errors.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { LeasedOperation } from "../domain/operation.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { SessionDeps } from "./deps.ts";
import { refuseRival } from "./launch-owner.ts";
import { lifecycleManager } from "./lifecycle-manager.ts";
import { crossing } from "./operations/crossing.ts";
import { operationLedger } from "./operations/ledger.ts";
import { keepAndFree } from "./salvage/keep-and-free.ts";
import { runtimeTarget } from "./session-refs.ts";
import { removeEndedLaunch } from "./teardown.ts";
import { describeRefusal, isRefusal } from "./workspace-refusal.ts";

/** Whether there may be something to free. */
export function isCandidate({ lifecycle, metadata }: SessionRecord): boolean {
  return isTerminal(lifecycle) && metadata.workspaceFreedAtMs === null;
}

/** What became of one worktree: `refusal` when it stays, `trouble` when not all went well. */
export interface Freed {
  readonly refusal: unknown;
  /** Where its work is kept; `null` when nothing was. */
  readonly salvageRef: string | null;
  readonly trouble: string | null;
}

/**
 * Frees the worktree of one terminated session and completes the operation; a worktree that is refused
 * completes it, too. Each step may be repeated.
 *
 * @throws AoError as `Workspace.destroy` but for a refusal.
 */
export async function finishCleanup(
  deps: SessionDeps,
  held: LeasedOperation,
  record: SessionRecord,
): Promise<Freed> {
  const trouble = await removeDeadRuntime(deps, record);
  const ended = () => operationLedger(deps).checkpoint(held, held.progress);
  await crossing(deps, "cleanup.ended", ended);
  const { refusal, salvageRef } = await freeWorkspace(deps, held, record);
  if (refusal === null) {
    await crossing(deps, "cleanup.launch.remove", () => removeEndedLaunch(deps, record));
  }
  const result =
    refusal === null ? { freed: true, trouble, salvageRef } : { freed: false, why: describeRefusal(refusal) };
  await crossing(deps, "cleanup.complete", () =>
    operationLedger(deps).complete(held, toJson(result), (store) => {
      if (refusal === null) lifecycleManager({ ...deps, store }).onWorkspaceFreed(record.id, salvageRef);
    }),
  );
  return { refusal, salvageRef, trouble };
}

/**
 * Carries on a cleanup that its process left. That of an orphan is only ended: whoever finds the worktree again
 * judges it anew, and the session of that name may have another one.
 *
 * @throws AoError as `finishCleanup`; it may be tried again then.
 */
export async function recoverCleanup(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  const record = held.sessionId === null ? undefined : deps.store.get(held.sessionId);
  const isOfOrphan = jsonMembers(held.input)?.["orphan"] !== undefined;
  if (record !== undefined && isCandidate(record) && !isOfOrphan) {
    await finishCleanup(deps, held, record);
    return;
  }
  await crossing(deps, "cleanup.complete", () => operationLedger(deps).complete(held, { freed: false }));
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
): Promise<Omit<Freed, "trouble">> {
  const salvage = jsonMembers(held.input)?.["salvage"] === true;
  try {
    return { refusal: null, salvageRef: await keepAndFree(deps, { held, record, salvage }) };
  } catch (error) {
    if (isRefusal(error)) return { refusal: error, salvageRef: null };
    throw error;
  }
}
