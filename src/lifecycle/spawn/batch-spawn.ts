import type { ProjectId } from "../../domain/ids.ts";
import { issueKey } from "../../domain/issue-key.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { ObserveDeps } from "../observe/gather-facts.ts";
import { listSessions, type SessionList } from "../observe/list-sessions.ts";

/** An issue that gets no session of its own, and why. */
export interface SkippedIssue {
  readonly issueId: string;
  readonly reason: "duplicate" | "live_session";
  /** The session that works on it; `null` for a duplicate. */
  readonly sessionId: string | null;
}

export interface BatchPlan {
  /** The issues to spawn for, in the order given, each once. */
  readonly wanted: readonly string[];
  readonly skipped: readonly SkippedIssue[];
}

/**
 * Which of several issues a batch spawns for: neither those named before nor those with a live session in
 * the project.
 */
export async function planBatch(
  deps: ObserveDeps,
  projectId: ProjectId,
  issues: readonly string[],
): Promise<BatchPlan> {
  const list = await listSessions(deps, { projectId, stored: false });
  const live = liveByIssue(list);
  const wanted = new Map<string, string>();
  const skipped: SkippedIssue[] = [];
  for (const issueId of issues) {
    const key = issueKey(issueId);
    const sessionId = live.get(key) ?? null;
    if (sessionId !== null) skipped.push({ issueId, reason: "live_session", sessionId });
    else if (wanted.has(key)) skipped.push({ issueId, reason: "duplicate", sessionId });
    else wanted.set(key, issueId);
  }
  return { wanted: [...wanted.values()], skipped };
}

/** One whose row cannot be read may be live. */
function liveByIssue({ sessions, unreadable }: SessionList): ReadonlyMap<string, string> {
  const live = [...sessions.filter(({ lifecycle }) => !isTerminal(lifecycle)), ...unreadable];
  return new Map(live.flatMap(({ issueId, id }) => (issueId === null ? [] : [[issueKey(issueId), id]])));
}
