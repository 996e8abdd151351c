import { type JsonValue, jsonMembers, toJson } from "../../domain/canonical-json.ts";
import type { MergedBranch } from "../../domain/cleanup-plan.ts";
import { isAoError } from "../../domain/errors.ts";
import type { LeasedOperation, OperationKind } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { BranchQuery } from "../../ports/workspace-facts.ts";
import type { SessionDeps } from "../deps.ts";
import { lifecycleManager } from "../lifecycle-manager.ts";
import { workspaceRef } from "../session-refs.ts";

/** Operations of one session that are looked through for the one that made its branch. */
const MAKERS: ReadonlySet<OperationKind> = new Set(["spawn", "restore", "fork"]);
const MAX_OPERATIONS = 1_000;

/** All sessions of all projects. */
export type Beside = ReturnType<SessionDeps["store"]["rows"]>;

/**
 * Whether the branch of a session may go, with its worktree or after it: merged, made for this session, and
 * of no other one. `null` when it has to stay.
 *
 * @throws AoError git_unavailable, git_failed when git could not tell.
 */
export async function findMerged(
  deps: SessionDeps,
  record: SessionRecord,
  { branch, beside }: { readonly branch: string; readonly beside: Beside },
): Promise<MergedBranch | null> {
  if (isUsedBeside(beside, record, branch)) return null;
  return deps.workspace.mergedBranch(workspaceRef(record), queryOf(deps, record, branch));
}

/** A restore of the other one would need it. A row that cannot be read may be one that does. */
function isUsedBeside(
  { sessions, unreadable }: Beside,
  { id, metadata }: SessionRecord,
  branch: string,
): boolean {
  const { repositoryPath } = metadata;
  if (unreadable.length > 0) return true;
  return sessions.some(
    (other) =>
      other.id !== id && other.metadata.repositoryPath === repositoryPath && other.metadata.branch === branch,
  );
}

function queryOf({ store, operations }: SessionDeps, record: SessionRecord, branch: string): BranchQuery {
  const { operations: own } = operations.ofSession(record.id, MAX_OPERATIONS);
  const madeBy = own.filter(({ kind }) => MAKERS.has(kind)).map(({ id }) => id);
  return { branch, madeBy, defaultBranch: store.project(record.projectId)?.defaultBranch ?? null };
}

/**
 * Deletes the branch that the plan of a cleanup names, once its worktree is gone, and puts on record where it stood
 * before that. What is not as it was proven stays. May be repeated.
 *
 * @returns the branch; `null` when none was deleted.
 * @throws AoError git_unavailable, git_failed.
 */
export async function deletePlanned(
  deps: SessionDeps,
  { input }: Pick<LeasedOperation, "input">,
  { id }: SessionRecord,
): Promise<string | null> {
  const proven = plannedIn(input);
  const record = deps.store.get(id);
  if (proven === null || record?.metadata.branch !== proven.branch) return null;
  const { branch, commit } = proven;
  if (isUsedBeside(deps.store.rows(), record, branch)) return null;
  const { onBranchDeleted } = lifecycleManager(deps);
  onBranchDeleted(id, { branch, commit, mayStand: true });
  const isGone = await deleteNoted(deps, record, proven);
  onBranchDeleted(id, isGone ? { branch, commit } : null);
  return isGone ? branch : null;
}

/** What git refused to delete is there, and its row must not say otherwise; what nobody knows is looked at again. */
async function deleteNoted(deps: SessionDeps, record: SessionRecord, proven: MergedBranch): Promise<boolean> {
  const query = queryOf(deps, record, proven.branch);
  try {
    return await deps.workspace.deleteMerged(workspaceRef(record), query, proven);
  } catch (error) {
    if (isAoError(error, "git_failed")) lifecycleManager(deps).onBranchDeleted(record.id, null);
    throw error;
  }
}

/** As part of what a cleanup was asked for. */
export function plannedJson(merged: MergedBranch | null): Readonly<Record<string, JsonValue>> {
  return merged === null ? {} : { merged: toJson(merged) };
}

function plannedIn(input: JsonValue): MergedBranch | null {
  const { branch, commit, into } = jsonMembers(jsonMembers(input)?.["merged"] ?? null) ?? {};
  const isWhole = typeof branch === "string" && typeof commit === "string" && typeof into === "string";
  return isWhole ? { branch, commit, into } : null;
}
