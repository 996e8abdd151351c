import { type JsonValue, jsonMembers, toJson } from "../../domain/canonical-json.ts";
import { parseSessionId } from "../../domain/ids.ts";
import type { LeasedOperation, Operation } from "../../domain/operation.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import type { WorkspaceRef } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { fenceOf } from "../operations/fence-of.ts";
import { operationLedger } from "../operations/ledger.ts";
import type { PrepareRequest } from "../operations/prepare-operation.ts";
import { REF_SHAPE, requireShape } from "../operations/progress-members.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { heldBy, keepWork, salvageOf } from "../salvage/keep-and-free.ts";
import { describeRefusal, isRefusal } from "../workspace-refusal.ts";

/** What became of a worktree of nobody. */
export interface FreedOrphan {
  /** Why it stays after all; `null` when it is gone. */
  readonly why: string | null;
  readonly salvageRef: string | null;
}

/** The removal of a worktree of nobody, as an operation of the session whose it says to be. */
export function orphanIntent(
  { ids }: Pick<SessionDeps, "ids">,
  ref: WorkspaceRef,
  salvage: boolean,
): PrepareRequest {
  const { projectId, sessionId } = ref;
  return {
    ...({ kind: "cleanup", projectId, sessionId, identifyingSessionId: sessionId } as const),
    ...{ subject: ids.uuid(), input: { orphan: ref.path, ...(salvage && { salvage }) } },
    progress: { ref: toJson(ref) },
  };
}

/** Whether a cleanup is that of a worktree of nobody. */
export function isOfOrphan({ input }: Pick<Operation, "input">): boolean {
  return jsonMembers(input)?.["orphan"] !== undefined;
}

/** So many operations of a worktree of nobody are searched for the one that freed it, the newest first. */
const LOOK_BACK = 100;

/** Whether a worktree of nobody that is not there any more went by an operation, and not by other means. */
export function wasFreed({ operations }: Pick<SessionDeps, "operations">, path: string): boolean {
  const id = parseSessionId(path.slice(path.lastIndexOf("/") + 1));
  if (id === undefined) return false;
  return operations
    .ofSession(id, LOOK_BACK)
    .operations.some(
      ({ input, state }) => jsonMembers(input)?.["orphan"] === path && state.kind === "completed",
    );
}

/** Whether a session has this very worktree. */
export function isOwned(store: Pick<SessionStore, "get">, { sessionId, path }: WorkspaceRef): boolean {
  const metadata = store.get(sessionId)?.metadata;
  return metadata?.workspacePath === path && metadata.workspaceFreedAtMs === null;
}

/**
 * Takes a worktree of nobody away and completes the operation, its work kept before that where the operation says
 * so; one that has to stay after all completes it, too. Each step may be repeated.
 *
 * @throws AoError as `Workspace.destroy` and `Snapshots.salvage`, but for a refusal.
 */
export async function freeOrphan(
  deps: SessionDeps,
  held: LeasedOperation,
  ref: WorkspaceRef,
): Promise<FreedOrphan> {
  const freed = await tryToFree(deps, held, ref);
  const result: JsonValue = { freed: freed.why === null, ...freed };
  await crossing(deps, "reconcile.complete", () => operationLedger(deps).complete(held, result));
  return freed;
}

async function tryToFree(
  deps: SessionDeps,
  held: LeasedOperation,
  workspace: WorkspaceRef,
): Promise<FreedOrphan> {
  try {
    const salvages = jsonMembers(held.input)?.["salvage"] === true;
    const salvageRef = salvages ? await keepWork(deps, held, { workspace, reason: "orphan" }) : null;
    const isKept = heldBy(deps, workspace, salvageRef);
    const fence = fenceOf(deps, held);
    await crossing(deps, "reconcile.workspace.destroy", () =>
      deps.workspace.destroy(workspace, undefined, isKept, fence),
    );
    return { why: null, salvageRef };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { why: describeRefusal(error), salvageRef: salvageOf(requireOperation(deps, held.id)) };
  }
}

/**
 * Carries the removal of a worktree of nobody on that its process left: forward where its work was to be kept, else
 * it is only ended, for whoever finds the worktree again judges it anew.
 *
 * @throws AoError as `freeOrphan`; it may be tried again then.
 */
export async function recoverOrphan(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  if (jsonMembers(held.input)?.["salvage"] === true) {
    const ref = refIn(held);
    if (!isOwned(deps.store, ref)) {
      await freeOrphan(deps, held, ref);
      return;
    }
  }
  await crossing(deps, "reconcile.complete", () => operationLedger(deps).complete(held, { freed: false }));
}

function refIn(held: LeasedOperation): WorkspaceRef {
  const members = requireShape(held, { what: "progress", json: held.progress }, REF_SHAPE);
  return members["ref"] as unknown as WorkspaceRef;
}
