/** Things in a worktree that git could not give back after its removal. */
export const FINDING_KINDS = [
  "missing",
  "changed",
  "staged",
  "untracked",
  "ignored",
  "operation_in_progress",
  "unreachable_commits",
  "submodule",
  "nested_repository",
  "locked",
  "in_use",
  "unreadable",
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

export interface WorkspaceFinding {
  readonly kind: FindingKind;
  /** One clause for a person, for example `2 untracked files`. */
  readonly detail: string;
  /** Paths relative to the worktree, commits or refs; at most 20 of them. */
  readonly items: readonly string[];
  /** How many there are in all. */
  readonly count: number;
}

export const SKIP_REASONS = [
  "dirty",
  "untracked",
  "ignored_files",
  "unmerged_commits",
  "operation_in_progress",
  "locked",
  "in_use",
  "shared",
  "unsafe_path",
  "no_workspace",
  "too_recent",
  "unknown",
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];
