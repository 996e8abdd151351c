import { jsonMembers } from "../../domain/canonical-json.ts";
import { isAoError } from "../../domain/errors.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { SalvageReason } from "../../domain/salvage.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { IsKept, WorkspaceRef } from "../../ports/workspace.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import { lifecycleManager } from "../lifecycle-manager.ts";
import { crossing } from "../operations/crossing.ts";
import { fenceOf } from "../operations/fence-of.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { workspaceRef } from "../session-refs.ts";
import { destroyWorkspace } from "../teardown.ts";
import { freedError } from "./freed-error.ts";
import { askedKept, keptBefore } from "./kept-before.ts";

export interface Freeing {
  readonly held: LeasedOperation;
  readonly record: SessionRecord;
  /** Whether work is kept so that the worktree may go; else one with work stays. */
  readonly salvage: boolean;
  readonly onStep?: OnStep | undefined;
}

/**
 * Frees the worktree of a session. With `salvage` its work is kept first, and on record before anything is removed;
 * the session's row says that it is gone, and where its work is, as soon as it is.
 * May be repeated.
 *
 * @returns the salvage; `null` when there was nothing to keep.
 * @throws AoError as `Workspace.destroy` and `Snapshots.salvage`; what was kept by then stays on record.
 * @throws AoError teardown_incomplete as `freedError` when the worktree is gone, and the row could not be told.
 */
export async function keepAndFree(deps: SessionDeps, freeing: Freeing): Promise<string | null> {
  const { held, record, onStep } = freeing;
  const workspace = workspaceRef(record);
  if (freeing.salvage) onStep?.("keeping work");
  const reason = held.kind === "cleanup" ? "cleanup" : "kill";
  const before = await keptBefore(deps, workspace);
  const ref = before ?? (freeing.salvage ? await keepWork(deps, held, { workspace, reason }) : null);
  const asked = askedKept(deps, { isKept: heldBy(deps, workspace, ref), ref });
  const last = { isKept: asked.isKept, fence: fenceOf(deps, held) };
  let isGone = false;
  try {
    await crossing(deps, `${held.kind}.workspace.destroy`, async () => {
      await destroyWorkspace(deps, record, last);
      isGone = true;
    });
    await crossing(deps, `${held.kind}.freed`, () => recordFreed(deps, held, ref));
  } catch (error) {
    asked.noteLeft(record.id, error);
    throw isGone ? freedError(error, { id: record.id, salvageRef: ref }) : error;
  }
  return ref;
}

/** At once: whatever goes wrong from here on, the row says where the work is that was in the worktree. */
function recordFreed(deps: SessionDeps, held: LeasedOperation, salvageRef: string | null): void {
  const { sessionId } = held;
  if (sessionId === null) return;
  const progress = { ...jsonMembers(requireOperation(deps, held.id).progress), freed: true };
  operationLedger(deps).checkpoint(held, progress, (store) => {
    lifecycleManager({ ...deps, store }).onWorkspaceFreed(sessionId, salvageRef);
  });
}

/** Whether an operation has freed its worktree. */
export function hasFreed({ progress }: Pick<LeasedOperation, "progress">): boolean {
  return jsonMembers(progress)?.["freed"] === true;
}

/** The salvage that an operation has made so far. */
export function salvageOf({ progress }: Pick<LeasedOperation, "progress">): string | null {
  const ref = jsonMembers(progress)?.["salvageRef"];
  return typeof ref === "string" ? ref : null;
}

/** Asks whether a workspace has nothing beyond a salvage, as none has when it was dropped; without one nobody is asked. */
export function heldBy(
  deps: Pick<SessionDeps, "snapshots">,
  workspace: WorkspaceRef,
  ref: string | null,
): IsKept | undefined {
  return ref === null ? undefined : () => stillHolds(deps, workspace, ref);
}

/**
 * Keeps the work of a worktree, on record in the operation when it returns. What an earlier try has kept serves
 * while it is all there is.
 *
 * @returns the salvage; `null` when there is nothing to keep.
 * @throws AoError as `Snapshots.salvage`.
 */
export async function keepWork(
  deps: SessionDeps,
  held: LeasedOperation,
  { workspace, reason }: { readonly workspace: WorkspaceRef; readonly reason: SalvageReason },
): Promise<string | null> {
  const known = salvageOf(requireOperation(deps, held.id));
  if (known !== null && (await stillHolds(deps, workspace, known))) return known;
  const atMs = deps.clock.nowMs();
  const outcome = await crossing(deps, `${held.kind}.salvage`, () =>
    deps.snapshots.salvage({ workspace, reason, atMs, fence: fenceOf(deps, held) }),
  );
  const salvageRef = outcome.kind === "kept" ? outcome.ref : null;
  const progress = { ...jsonMembers(requireOperation(deps, held.id).progress), salvageRef };
  await crossing(deps, `${held.kind}.salvaged`, () => operationLedger(deps).checkpoint(held, progress));
  return salvageRef;
}

/** One that a person has dropped holds nothing. */
async function stillHolds(
  deps: Pick<SessionDeps, "snapshots">,
  workspace: WorkspaceRef,
  ref: string,
): Promise<boolean> {
  return deps.snapshots.holds({ workspace, ref }).catch((error: unknown) => {
    if (isAoError(error, "salvage_not_found")) return false;
    throw error;
  });
}
