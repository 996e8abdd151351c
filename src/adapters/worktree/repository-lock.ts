import type { Locks } from "../../ports/locks.ts";
import type { Repository } from "./repository.ts";

/** Each holder needs a few milliseconds; fifty at once on a slow machine are through long before that. */
const WAIT_MS = 60_000;

/**
 * Runs `work` while no other `ao` of this data directory that had to try again begins a worktree in the
 * repository.
 *
 * Only they queue. A lock around every `git worktree add` would keep the records whole for all of `ao`, but not
 * for other programs, and fifty at once then took twice as long as with none: on a busy machine each holder
 * waits for its turn on the processor. So the first try is free, and who lost does not lose to another loser.
 */
export function withRecords<Result>(
  locks: Pick<Locks, "withLock">,
  repository: Repository,
  work: () => Promise<Result>,
): Promise<Result> {
  return locks.withLock(`worktrees of ${repository.commonDir}`, work, { waitMs: WAIT_MS });
}
