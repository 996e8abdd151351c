import type { Locks } from "../../ports/locks.ts";
import type { Repository } from "./repository.ts";

/** Each holder needs a few milliseconds; fifty at once on a slow machine are through long before that. */
const WAIT_MS = 60_000;

/**
 * Runs `work` while no other `ao` of this data directory writes a worktree's record in the repository.
 *
 * `git worktree add` writes its record in several steps, and it, `worktree remove` and all that list
 * worktrees die of one that they find half-written (2.39.5, fifty at once: one add in ten, and a few of
 * the others). Branches made and removed by `update-ref`, `status` and `rev-list` never did.
 */
export function withRecords<Result>(
  locks: Locks,
  repository: Repository,
  work: () => Promise<Result>,
): Promise<Result> {
  return locks.withLock(`worktrees of ${repository.commonDir}`, work, { waitMs: WAIT_MS });
}
