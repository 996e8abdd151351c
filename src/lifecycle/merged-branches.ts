import { type JsonValue, jsonMembers, toJson } from "../domain/canonical-json.ts";
import type { MergedBranch } from "../domain/cleanup-plan.ts";
import type { LeasedOperation } from "../domain/operation.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { BranchQuery } from "../ports/workspace-facts.ts";
import type { SessionDeps } from "./deps.ts";
import { lifecycleManager } from "./lifecycle-manager.ts";
import { workspaceRef } from "./session-refs.ts";

/** Operations of one session that are looked through for the one that made its branch. */
const MAX_OPERATIONS = 1_000;

/**
 * Whether the branch that is checked out in a session's worktree may go with it: merged, made for this session, and
 * of no other one. `null` when it has to stay.
 *
 * @throws AoError git_unavailable, git_failed when git could not tell.
 */
export async function findMerged(
  deps: SessionDeps,
  record: SessionRecord,
  branch: string,
): Promise<MergedBranch | null> {
  if (isUsedBeside(deps, record, branch)) return null;
  return deps.workspace.mergedBranch(workspaceRef(record), queryOf(deps, record, branch));
}

/** A restore of the other one would need it. A row that cannot be read may be one that does. */
function isUsedBeside({ store }: SessionDeps, { id, metadata }: SessionRecord, branch: string): boolean {
  const { sessions, unreadable } = store.rows();
  const { repositoryPath } = metadata;
  if (unreadable.length > 0) return true;
  return sessions.some(
    (other) =>
      other.id !== id && other.metadata.repositoryPath === repositoryPath && other.metadata.branch === branch,
  );
}

function queryOf({ store, operations }: SessionDeps, record: SessionRecord, branch: string): BranchQuery {
  const { operations: own } = operations.ofSession(record.id, MAX_OPERATIONS);
  const madeBy = own.filter(({ kind }) => kind === "spawn" || kind === "restore").map(({ id }) => id);
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
  if (isUsedBeside(deps, record, branch)) return null;
  lifecycleManager(deps).onBranchDeleted(id, { branch, commit });
  const query = queryOf(deps, record, branch);
  return (await deps.workspace.deleteMerged(workspaceRef(record), query, proven)) ? branch : null;
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
