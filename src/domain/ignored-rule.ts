/**
 * What a user says of files that git ignores, in patterns of gitignore(5) that start at the worktree's top
 * folder. `work` wins over `reproducible`, and both over what `ao` would think of a file.
 */
export interface IgnoredRule {
  /** Comes back by itself: no reason to keep a worktree. */
  readonly reproducible: readonly string[];
  /** Has to be kept. */
  readonly work: readonly string[];
}

/** Nothing said. */
export const NO_IGNORED_RULE: IgnoredRule = { reproducible: [], work: [] };
