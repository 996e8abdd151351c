import type { OperationId } from "../domain/operation.ts";
import type { WorkspaceFinding } from "../domain/workspace-finding.ts";

/** A branch that holds what was committed while a workspace stood. */
export interface KeptBranch {
  readonly branch: string;
  /** How many commits it has that the workspace did not begin with; `null` when they could not be counted. */
  readonly commits: number | null;
}

/** What of a workspace stays in its repository when it is freed: no reason to keep it. */
export interface WorkspaceRemains {
  /** The branch that is checked out and has a commit; `null` when there is none. */
  readonly branch: string | null;
  /** Commits that this branch has and no other branch, tag or remote, newest first. */
  readonly commits: readonly string[];
  /** Stashes made on this branch, as `stash@{0} WIP on feat/1: …`. */
  readonly stashes: readonly string[];
}

/** Everything that is known of what a workspace holds. */
export interface WorkspaceSurvey extends WorkspaceRemains {
  /** As `inspect` of the workspace port gives them. */
  readonly findings: readonly WorkspaceFinding[];
  /** All the ignored files that count as work, of which a finding names the first few. */
  readonly ignoredWork: readonly string[];
}

/** A branch that may have done its work. */
export interface BranchQuery {
  readonly branch: string;
  /** The operations that may have made it for its session; of another's making it is nobody's to delete. */
  readonly madeBy: readonly OperationId[];
  /** `null`: the one that the repository itself tells, as for a new branch. */
  readonly defaultBranch: string | null;
}
