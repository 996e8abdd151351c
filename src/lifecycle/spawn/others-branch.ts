import type { WorkspacePlan } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";

/** What a spawn was asked for that names its branch. */
export interface BranchRequest {
  readonly branch: string | null;
  readonly issueId: string | null;
  readonly repositoryPath: string;
}

/**
 * The plan of a spawn, with a warning when the branch that it derived is there already and a session worked on it for
 * another issue: two names may come to one branch, as `a..b` and `a-b` do. Reads all rows, but for a new branch.
 */
export function tellingOfOthers(
  { store }: Pick<SessionDeps, "store">,
  { branch, issueId, repositoryPath }: BranchRequest,
  plan: WorkspacePlan,
): WorkspacePlan {
  if (branch !== null || !plan.branchExists) return plan;
  const other = store
    .rows()
    .sessions.find(
      ({ metadata, issueId: theirs }) =>
        metadata.repositoryPath === repositoryPath && metadata.branch === plan.branch && theirs !== issueId,
    );
  if (other === undefined) return plan;
  const whose = other.issueId === null ? `session ${other.id}` : `issue ${other.issueId} (${other.id})`;
  const warning = `branch ${plan.branch} is the one of ${whose} and goes on from there; --branch names another`;
  return { ...plan, warnings: [...plan.warnings, warning] };
}
