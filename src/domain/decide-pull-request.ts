import { assertNever } from "./assert-never.ts";
import type { PullRequestFacts } from "./facts.ts";
import type { PrReason, PrSubstate, SessionSubstate } from "./lifecycle.ts";

type OpenPullRequest = Extract<PullRequestFacts, { readonly kind: "open" }>;

export interface PullRequestVerdict {
  readonly pr: PrSubstate;
  /** What it means for the session; `null` when it means nothing. */
  readonly session: SessionSubstate | null;
}

/** Judges one fetched pull request. Pure and total; of an open one the first match counts. */
export function decidePullRequest(facts: PullRequestFacts): PullRequestVerdict {
  const { number, url } = facts;
  switch (facts.kind) {
    case "merged":
      return {
        pr: { state: "merged", reason: "merged", number, url },
        session: { state: "idle", reason: "merged_waiting_decision" },
      };
    case "closed":
      return {
        pr: { state: "closed", reason: "closed_unmerged", number, url },
        session: { state: "idle", reason: "awaiting_user_input" },
      };
    case "open": {
      const said = firstMatch(facts);
      const isStuck = said === undefined && facts.idleBeyondThreshold;
      return {
        pr: { state: facts.draft ? "draft" : "open", reason: said ?? "in_progress", number, url },
        session: isStuck ? { state: "stuck", reason: "awaiting_user_input" } : null,
      };
    }
    default:
      return assertNever(facts);
  }
}

/** `undefined` when nothing is said of it and only the agent's rest can matter. */
function firstMatch(facts: OpenPullRequest): PrReason | undefined {
  if (facts.ci === "failing") return "ci_failing";
  if (facts.draft) return "in_progress";
  return reviewReason(facts);
}

function reviewReason(facts: OpenPullRequest): PrReason | undefined {
  if (facts.review === "changes_requested" || facts.humanComments) return "changes_requested";
  if (facts.botComments) return "bot_comments";
  if (facts.conflicts) return "merge_conflicts";
  if (facts.mergeable) return "merge_ready";
  if (facts.review === "approved") return "approved";
  return facts.review === "pending" ? "review_pending" : undefined;
}
