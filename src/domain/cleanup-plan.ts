import type { ProjectId, SessionId } from "./ids.ts";
import { isKeepable, type Unkeepable, unkeepableFinding } from "./salvage.ts";
import { skipReasonFor } from "./skip-reason.ts";
import type { SkipReason, WorkspaceFinding } from "./workspace-finding.ts";

/** What a cleanup was told. */
export interface CleanupRules {
  /** Least time since termination, in milliseconds; `null` for any. */
  readonly olderThanMs: number | null;
  /** Work that can be kept is no reason to leave a worktree. */
  readonly salvage: boolean;
  /** Takes the branches of freed sessions where git proves that they are merged, also of those freed before. */
  readonly deleteMergedBranches: boolean;
}

/** Why a worktree stays. */
export type Stays =
  | { readonly kind: "skip"; readonly reason: SkipReason; readonly detail: string }
  | { readonly kind: "error"; readonly message: string };

/** What is known of a terminated session without a look into its worktree. */
export interface CandidateFacts {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  /** Why nothing can be done with it whatever it is like, for example because another command works on it. */
  readonly obstacle: Stays | null;
  /** Empty when none was ever recorded. */
  readonly workspacePath: string;
  /** Its worktree was freed before: what may be left is its branch. */
  readonly isFreed: boolean;
  readonly agent: "ended" | "alive" | "unknown";
  /** Milliseconds since it was terminated. */
  readonly endedForMs: number;
  /** A live session works in the same worktree. */
  readonly isShared: boolean;
  /** One clause when a live session's row names the same launch; `null` when none does. */
  readonly rival: string | null;
}

/** What of a freed worktree is in its repository all the same. */
export interface Remains {
  readonly branch: string;
  /** Commits that only this branch has. */
  readonly commits: number;
  /** Stashes that were made on it. */
  readonly stashes: number;
}

/** A branch that is no more needed: all its commits are in another one, as git has proven by ancestry. */
export interface MergedBranch {
  readonly branch: string;
  /** Where it stood; it goes only from there. */
  readonly commit: string;
  /** The ref that has its commits. */
  readonly into: string;
}

/** What a look into a worktree came to. */
export type WorkspaceFacts =
  | {
      readonly kind: "seen";
      readonly findings: readonly WorkspaceFinding[];
      /** What a salvage could not hold; empty when nobody asked. */
      readonly unkeepable: readonly Unkeepable[];
      /** `null` when its branch and the stashes on it have nothing of their own. */
      readonly remains: Remains | null;
      /** `null` when its branch is to stay, for want of a proof or of the wish. */
      readonly merged: MergedBranch | null;
    }
  /** There is none any more; `merged` as above. */
  | { readonly kind: "freed"; readonly merged: MergedBranch | null }
  | { readonly kind: "stays"; readonly why: Stays };

export interface PlannedFreeing {
  readonly kind: "free";
  readonly remains: Remains | null;
  /** Goes with the worktree; `null` when it stays. */
  readonly merged: MergedBranch | null;
}

/** Of a session whose worktree was freed before. */
export interface PlannedBranch {
  readonly kind: "delete_branch";
  readonly merged: MergedBranch;
}

export interface PlanItem {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  readonly action: PlannedFreeing | PlannedBranch | Stays;
}

export interface Candidate {
  readonly facts: CandidateFacts;
  /** `null` when nobody looked, which only counts when `decideUnseen` says that there is no need. */
  readonly workspace: WorkspaceFacts | null;
}

/**
 * What a cleanup does with each terminated session, and why, in their order; of those that were freed before only the
 * ones whose branch goes, or could not be judged. Pure: the same facts and rules give the same plan, which a dry run
 * prints and the run carries out.
 */
export function planCleanup(candidates: readonly Candidate[], rules: CleanupRules): readonly PlanItem[] {
  return candidates.flatMap(({ facts, workspace }) => {
    const { id, projectId } = facts;
    const unseen = decideUnseen(facts, rules);
    const action = facts.isFreed ? decideBranch(unseen, workspace) : (unseen ?? decideSeen(workspace, rules));
    return action === null ? [] : [{ id, projectId, action }];
  });
}

/** `null` when there is nothing to do and nothing to tell. */
function decideBranch(unseen: Stays | null, workspace: WorkspaceFacts | null): PlannedBranch | Stays | null {
  if (unseen !== null || workspace === null) return null;
  if (workspace.kind === "stays") return workspace.why;
  return workspace.merged === null ? null : { kind: "delete_branch", merged: workspace.merged };
}

/** Why a worktree stays whatever is in it; `null` when that decides. */
export function decideUnseen(
  facts: CandidateFacts,
  { olderThanMs }: Pick<CleanupRules, "olderThanMs">,
): Stays | null {
  if (facts.obstacle !== null) return facts.obstacle;
  if (facts.workspacePath === "") return skip("no_workspace", "no worktree is recorded");
  if (facts.agent === "unknown") return skip("unknown", "its runtime could not be judged");
  if (facts.agent === "alive") return skip("in_use", "its agent still runs");
  const isRecent = olderThanMs !== null && facts.endedForMs < olderThanMs;
  if (isRecent) return skip("too_recent", "it was terminated not long enough ago");
  if (facts.isShared) return skip("shared", "another session works in it");
  return facts.rival === null ? null : skip("unknown", facts.rival);
}

function decideSeen(workspace: WorkspaceFacts | null, rules: CleanupRules): PlannedFreeing | Stays {
  if (workspace === null) return skip("unknown", "nobody looked into it");
  if (workspace.kind === "stays") return workspace.why;
  if (workspace.kind === "freed") return skip("no_workspace", "it was freed before");
  const { remains, merged } = workspace;
  return refusalOf(workspace, rules) ?? { kind: "free", remains, merged };
}

/** Why what was found keeps a worktree; `null` when it may go, after all of it was kept where `salvage` says so. */
export function refusalOf(
  { findings, unkeepable }: Pick<WorkspaceFacts & { readonly kind: "seen" }, "findings" | "unkeepable">,
  { salvage }: Pick<CleanupRules, "salvage">,
): Stays | null {
  if (findings.length === 0) return null;
  if (!salvage || !isKeepable(findings)) return skipFor(findings);
  return unkeepable.length === 0 ? null : skipFor([unkeepableFinding(unkeepable)]);
}

/** The skip of a worktree with these findings. */
export function skipFor(findings: readonly WorkspaceFinding[]): Stays {
  return skip(skipReasonFor(findings), findings.map(({ detail }) => detail).join(", "));
}

export function skip(reason: SkipReason, detail: string): Stays {
  return { kind: "skip", reason, detail };
}
