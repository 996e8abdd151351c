import { assertNever } from "./assert-never.ts";
import type { CanonicalLifecycle, PrReason, PrSubstate, SessionReason } from "./lifecycle.ts";

/** What a person is shown of a session. Names are a contract: scripts wait for them. */
export const STATUSES = [
  "spawning",
  "working",
  "idle",
  "needs_input",
  "stuck",
  "detecting",
  "draft",
  "pr_open",
  "ci_failed",
  "changes_requested",
  "review_pending",
  "approved",
  "mergeable",
  "merged",
  "done",
  "killed",
  "cleanup",
  "errored",
  "terminated",
] as const;
export type Status = (typeof STATUSES)[number];

const AFTER_THE_END: Partial<Record<SessionReason, Status>> = {
  manually_killed: "killed",
  runtime_lost: "killed",
  agent_process_exited: "killed",
  auto_cleanup: "cleanup",
  pr_merged: "cleanup",
  error_in_process: "errored",
  probe_failure: "errored",
};

const OF_AN_OPEN_PR: Partial<Record<PrReason, Status>> = {
  ci_failing: "ci_failed",
  changes_requested: "changes_requested",
  bot_comments: "changes_requested",
  approved: "approved",
  merge_ready: "mergeable",
  review_pending: "review_pending",
};

/**
 * The only producer of `Status`. Pure and total.
 *
 * A pull request outranks only the soft states, idle and working: a session that needs a person shows
 * that whatever its pull request does.
 */
export function deriveStatus(lifecycle: CanonicalLifecycle): Status {
  const { session, pr } = lifecycle;
  switch (session.state) {
    case "terminated":
      return session.reason === null ? "terminated" : (AFTER_THE_END[session.reason] ?? "terminated");
    case "not_started":
      return "spawning";
    case "done":
    case "needs_input":
    case "stuck":
    case "detecting":
      return session.state;
    case "idle":
    case "working":
      return prStatus(pr) ?? session.state;
    default:
      return assertNever(session.state);
  }
}

/** `undefined` when there is no pull request that has a say. */
function prStatus(pr: PrSubstate): Status | undefined {
  switch (pr.state) {
    case "merged":
      return "merged";
    case "draft":
      return pr.reason === "ci_failing" ? "ci_failed" : "draft";
    case "open":
      return OF_AN_OPEN_PR[pr.reason] ?? "pr_open";
    case "none":
    case "closed":
      return undefined;
    default:
      return assertNever(pr.state);
  }
}
