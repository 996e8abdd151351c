import { decidePullRequest } from "./decide-pull-request.ts";
import type { PullRequestFacts } from "./facts.ts";
import { keepSame } from "./keep-same.ts";
import { type CanonicalLifecycle, isTerminal, type PrSubstate, type SessionState } from "./lifecycle.ts";

/**
 * Folds a fetched pull request into a lifecycle. Pure and total; `revision` is the caller's.
 *
 * An open one writes the pr substate only, but for an agent that rests too long. A merge or a close parks
 * the session once, when it is first seen, so that work done after it is not hidden by every later fetch.
 * A terminal session stays as it is. Returns `lifecycle` itself, the same reference, when nothing changed.
 */
export function applyPullRequest(lifecycle: CanonicalLifecycle, facts: PullRequestFacts): CanonicalLifecycle {
  if (isTerminal(lifecycle)) return lifecycle;
  const { pr, session } = decidePullRequest(facts);
  if (session === null || !mayWriteSession(lifecycle, pr)) return keepSame(lifecycle, { ...lifecycle, pr });
  return keepSame(lifecycle, { ...lifecycle, pr, session, detecting: null });
}

function mayWriteSession(lifecycle: CanonicalLifecycle, pr: PrSubstate): boolean {
  const isOver = pr.state === "merged" || pr.state === "closed";
  return isOver ? keepSame(lifecycle.pr, pr) !== lifecycle.pr : isSoft(lifecycle.session.state);
}

/** A rest is told only of a session that nothing more urgent is known of. */
function isSoft(state: SessionState): boolean {
  return state === "idle" || state === "working";
}
