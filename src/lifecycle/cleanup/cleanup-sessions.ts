import { type Candidate, type CleanupRules, type PlanItem, planCleanup } from "../../domain/cleanup-plan.ts";
import type { ProjectId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { UnreadableSession } from "../../ports/session-store.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import { requireSight } from "../live-target.ts";
import { foldFacts } from "../observe/fold-facts.ts";
import { gatherFacts, lookFailures } from "../observe/gather-facts.ts";
import { saveFacts } from "../observe/observe-sessions.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import { describeUnreadable } from "../session-refs.ts";
import { asPlanned, carryPlanOut } from "./cleanup-apply.ts";
import { candidateFacts, liveBeside, lookInto, obstacleOf } from "./cleanup-facts.ts";
import { type CleanupResult, type FailedSession, tally } from "./cleanup-report.ts";
import { lookSurely, requireSomeSight } from "./cleanup-sight.ts";
import { isCandidate, mayHaveBranch } from "./cleanup-steps.ts";

export type { CleanupResult } from "./cleanup-report.ts";

export interface CleanupOptions {
  /** `null` means all projects. */
  readonly projectId: ProjectId | null;
  readonly dryRun: boolean;
  /** Least time since termination, in milliseconds; `null` for any. */
  readonly olderThanMs: number | null;
  /** Keeps the work of worktrees and frees them then; no when not given. */
  readonly salvage?: boolean;
  /**
   * Deletes the branches of freed sessions that git proves merged into the default branch, also of those that were
   * freed before; no when not given.
   */
  readonly deleteMergedBranches?: boolean;
  readonly onStep?: OnStep;
  /** Asked before each session; those left when it says so are not in the result. */
  readonly isStopped?: () => boolean;
}

interface Candidates {
  readonly sessions: readonly SessionRecord[];
  readonly unreadable: readonly FailedSession[];
  readonly look: (record: SessionRecord) => Promise<Candidate>;
}

/**
 * Frees the worktrees of terminated sessions that hold nothing to lose, or nothing that is not kept: judges all of
 * them first, then carries that plan out, each item judged once more. A dry run gives the plan and changes nothing;
 * to see what the run would, it brings runtimes back into reach. One session's failure never stops the others. When git
 * stops answering after the first worktree was freed, those that are left are among the errors.
 *
 * @throws AoError store_corrupt when there is something to judge and the store is damaged anywhere; nothing was
 *   removed. A row that cannot be read is among the errors.
 * @throws AoError runtime_unavailable when any session in question, or who uses the worktrees, could not be
 *   seen; nothing was changed.
 * @throws AoError git_unavailable when git could not be asked, gave two answers to one question, or failed for each
 *   session; nothing was removed.
 */
export async function cleanupSessions(deps: SessionDeps, options: CleanupOptions): Promise<CleanupResult> {
  await (options.dryRun ? deps.runtime.reopen() : recoverOperations(deps));
  const { plan, sessions, unreadable } = await planSessions(deps, options);
  const { dryRun } = options;
  const { salvage = false, onStep, isStopped } = options;
  const applying = { salvage, onStep, isStopped };
  const carriedOut = dryRun ? plan.map(asPlanned) : await carryPlanOut(deps, { plan, sessions }, applying);
  const { errors, ...told } = tally(carriedOut);
  return { ...told, errors: [...errors, ...unreadable], dryRun };
}

/** What a cleanup is going to do. */
export interface PlannedCleanup {
  readonly plan: readonly PlanItem[];
  /** Those of the plan, as they were judged. */
  readonly sessions: readonly SessionRecord[];
  readonly unreadable: readonly FailedSession[];
}

/**
 * Judges all sessions in question. Removes nothing; saves what it saw of them but in a dry run.
 *
 * @throws AoError as `cleanupSessions`.
 */
export async function planSessions(deps: SessionDeps, options: CleanupOptions): Promise<PlannedCleanup> {
  const { sessions, unreadable, look } = await findCandidates(deps, options);
  const candidates: Candidate[] = [];
  for (const [at, record] of sessions.entries()) {
    if (options.isStopped?.() === true) break;
    options.onStep?.(`checking ${at + 1}/${sessions.length} ${record.id}`);
    candidates.push(await lookSurely(() => look(record)));
  }
  requireSomeSight(candidates);
  return { plan: planCleanup(candidates, rulesOf(options)), sessions, unreadable };
}

function rulesOf(options: CleanupOptions): CleanupRules {
  const { olderThanMs, salvage = false, deleteMergedBranches = false } = options;
  return { olderThanMs, salvage, deleteMergedBranches };
}

async function findCandidates(deps: SessionDeps, options: CleanupOptions): Promise<Candidates> {
  const facts = await gatherFacts(deps, {
    load: () => deps.store.rows(options.projectId ?? undefined),
    lookAt: (record) => !isTerminal(record.lifecycle) || isCandidate(record),
  });
  requireSight(lookFailures(facts));
  const users = facts.records.some(isCandidate) ? await deps.workspace.users() : [];
  const all = options.dryRun
    ? facts.records.map((record) => foldFacts(deps, facts, record))
    : (await saveFacts(deps, facts)).sessions;
  const rules = rulesOf(options);
  const sessions = all.filter(
    (one) => isCandidate(one) || (rules.deleteMergedBranches && mayHaveBranch(one)),
  );
  // All of the store is read for it: who else uses a worktree may be what is damaged.
  if (sessions.length > 0) deps.store.verify();
  const beside = deps.store.rows();
  const live = liveBeside(beside.sessions, new Set(sessions.map(({ id }) => id)));
  const look = (record: SessionRecord) => {
    const moment = { seen: facts.seen.get(record.id), nowMs: facts.takenAtMs, live };
    const known = { facts: candidateFacts(record, moment, obstacleOf(deps, record)), record };
    return lookInto(deps, known, { rules, users, beside });
  };
  return { sessions, unreadable: facts.unreadable.map(failed), look };
}

function failed(row: UnreadableSession): FailedSession {
  return { id: row.id, projectId: row.projectId, message: describeUnreadable(row) };
}
