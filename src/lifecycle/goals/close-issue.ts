import { errorMessage, isAoError } from "../../domain/errors.ts";
import { goalStatus, isTombstoned } from "../../domain/goal.ts";
import type { ProjectId, SessionId } from "../../domain/ids.ts";
import { issueKey } from "../../domain/issue-key.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import { describeUnreadable } from "../session-refs.ts";
import { type FenceResult, fenceGoal } from "./fence-goal.ts";

export interface CloseIssueRequest {
  readonly projectId: ProjectId;
  /** Compared without regard to case, as trackers do. */
  readonly issueId: string;
  /** For people who read the record; `issue_closed` when absent. */
  readonly reason?: string;
  readonly onStep?: OnStep;
}

/** What came of one session of the issue; of a `no_goal` there is nothing to tell. */
export type ClosedSession =
  | {
      readonly id: SessionId;
      /** `already_fenced`: an earlier call has done it; what that one left open was carried on. */
      readonly outcome: "fenced" | "already_fenced";
      readonly fence: FenceResult;
      /** Its goal had been reached before. */
      readonly wasCompleted: boolean;
    }
  | { readonly id: SessionId; readonly outcome: "no_goal"; readonly fence: null };

export interface ClosedIssue {
  /** The sessions of the issue, whether they are over or not, oldest first. */
  readonly sessions: readonly ClosedSession[];
  /** What a repeat has to do again. Ids as the store has them. */
  readonly errors: readonly { readonly id: string; readonly message: string }[];
}

/**
 * Learns that an issue was closed: revokes for ever the order that each of its sessions has for a goal. Sessions,
 * worktrees and queued messages of people stay. Idempotent; one that dies between two sessions is finished by a
 * repeat. One session's failure never stops the others. An issue that no session works on is no error.
 */
export async function closeIssue(
  deps: SessionDeps,
  { projectId, issueId, reason = "issue_closed", onStep }: CloseIssueRequest,
): Promise<ClosedIssue> {
  const isIts = (row: { readonly issueId: string | null }) =>
    row.issueId !== null && issueKey(row.issueId) === issueKey(issueId);
  const rows = deps.store.rows(projectId);
  const sessions: ClosedSession[] = [];
  const errors: ClosedIssue["errors"][number][] = rows.unreadable
    .filter(isIts)
    .map((row) => ({ id: row.id, message: describeUnreadable(row) }));
  for (const { id } of rows.sessions.filter(isIts)) {
    onStep?.(`revoking the goal of ${id}`);
    try {
      sessions.push(await closeSession(deps, id, reason));
    } catch (error) {
      errors.push({ id, message: errorMessage(error) });
    }
  }
  return { sessions, errors };
}

async function closeSession(deps: SessionDeps, id: SessionId, reason: string): Promise<ClosedSession> {
  const goal = deps.goals.state(id);
  const outcome = goal === undefined || isTombstoned(goal) ? "already_fenced" : "fenced";
  const wasCompleted = goal !== undefined && goalStatus(goal) === "completed";
  try {
    return { id, outcome, wasCompleted, fence: await fenceGoal(deps, id, { reason, requestId: null }) };
  } catch (error) {
    if (isAoError(error, "goal_absent")) return { id, outcome: "no_goal", fence: null };
    throw error;
  }
}
