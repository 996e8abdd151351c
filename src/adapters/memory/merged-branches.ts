import type { MergedBranch } from "../../domain/cleanup-plan.ts";
import type { WorkspaceRef } from "../../ports/workspace.ts";
import type { BranchQuery } from "../../ports/workspace-facts.ts";
import { branchesOf, type WorkspaceState } from "./workspace-state.ts";

/** As `Workspace.mergedBranch`. */
export function provenMerged(
  state: WorkspaceState,
  { repositoryPath, path }: WorkspaceRef,
  { branch, madeBy, defaultBranch }: BranchQuery,
): MergedBranch | null {
  const found = branchesOf(state, repositoryPath).get(branch);
  const isOurs = madeBy.some((id) => id === found?.madeBy);
  const isElsewhere = [...state.places].some(([at, there]) => at !== path && there.branch === branch);
  const isMerged = state.merged.has(`${repositoryPath} ${branch}`);
  if (found === undefined || !isOurs || isElsewhere || !isMerged) return null;
  return { branch, commit: found.commit, into: `refs/heads/${defaultBranch ?? "main"}` };
}

/** As `Workspace.deleteMerged`. */
export function deleteProven(
  state: WorkspaceState,
  ref: WorkspaceRef,
  { query, proven }: { readonly query: BranchQuery; readonly proven: MergedBranch },
): boolean {
  const known = branchesOf(state, ref.repositoryPath);
  if (!known.has(query.branch)) return true;
  if (provenMerged(state, ref, query)?.commit !== proven.commit) return false;
  return known.delete(query.branch);
}
