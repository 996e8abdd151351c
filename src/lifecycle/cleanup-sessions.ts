import { assertNever } from "../domain/assert-never.ts";
import { AoError, isAoError } from "../domain/errors.ts";
import type { ProjectId, SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { Operation } from "../domain/operation.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { SkipReason } from "../domain/workspace-finding.ts";
import type { SessionStore, UnreadableSession } from "../ports/session-store.ts";
import { finishCleanup, isCandidate } from "./cleanup-steps.ts";
import { type JudgeContext, judgeWorkspace, type Kept, verdictOn } from "./cleanup-verdict.ts";
import type { OnStep, SessionDeps } from "./deps.ts";
import { foldFacts } from "./fold-facts.ts";
import { type Facts, gatherFacts, lookFailures } from "./gather-facts.ts";
import { rivalOf } from "./launch-owner.ts";
import { requireSight } from "./live-target.ts";
import { saveFacts } from "./observe-sessions.ts";
import { beginOnce } from "./operations/begin-once.ts";
import { carryOut } from "./operations/carry-out.ts";
import { operationInProgress } from "./operations/operation-errors.ts";
import { type PrepareRequest, unfinishedOf } from "./operations/prepare-operation.ts";
import { recoverOperations } from "./recovery/recover-operations.ts";
import { describeUnreadable } from "./session-refs.ts";

export interface CleanupOptions {
  /** `null` means all projects. */
  readonly projectId: ProjectId | null;
  readonly dryRun: boolean;
  /** Least time since termination, in milliseconds; `null` for any. */
  readonly olderThanMs: number | null;
  /** Keeps the work of worktrees and frees them then; no when not given. */
  readonly salvage?: boolean;
  readonly onStep?: OnStep;
  /** Asked before each session; those left when it says so are not in the result. */
  readonly isStopped?: () => boolean;
}

export interface CleanedSession {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  /** Where the work that was in its worktree is kept; `null` when nothing was, and in a dry run. */
  readonly salvageRef: string | null;
}

export interface SkippedSession {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  readonly reason: SkipReason;
  readonly detail: string;
}

export interface FailedSession {
  /** As the store has them, which may be no ids where a row cannot be read. */
  readonly id: string;
  readonly projectId: string;
  readonly message: string;
}

export interface CleanupResult {
  readonly cleaned: readonly CleanedSession[];
  readonly skipped: readonly SkippedSession[];
  readonly errors: readonly FailedSession[];
  readonly dryRun: boolean;
}

/** `gone`: another command freed it or took it up meanwhile. `trouble`: freed, but not all went well. */
type Outcome =
  | { readonly kind: "cleaned"; readonly trouble: string | null; readonly salvageRef: string | null }
  | { readonly kind: "gone" }
  | Kept;

/**
 * Frees the worktrees of terminated sessions that hold nothing to lose, or nothing that is not kept. A dry run gives the same answer
 * and changes nothing. One session's failure never stops the others.
 *
 * @throws AoError store_corrupt when there is something to judge and the store is damaged anywhere; nothing was
 *   removed. A row that cannot be read is among the errors.
 * @throws AoError runtime_unavailable when any session in question, or who uses the worktrees, could not be
 *   seen; nothing was changed.
 * @throws AoError git_unavailable when git could not be asked.
 */
export async function cleanupSessions(deps: SessionDeps, options: CleanupOptions): Promise<CleanupResult> {
  if (!options.dryRun) await recoverOperations(deps);
  const facts = await gatherFacts(deps, {
    load: () => deps.store.rows(options.projectId ?? undefined),
    lookAt: (record) => !isTerminal(record.lifecycle) || isCandidate(record),
  });
  requireSight(lookFailures(facts));
  const users = facts.records.some(isCandidate) ? await deps.workspace.users() : [];
  const sessions = options.dryRun
    ? facts.records.map((record) => foldFacts(deps, facts, record))
    : (await saveFacts(deps, facts)).sessions;

  const candidates = sessions.filter(isCandidate);
  // All of the store is read for it: who else uses a worktree may be what is damaged.
  if (candidates.length > 0) deps.store.verify();
  const others = liveBeside(deps.store.rows().sessions, candidates);
  const outcomes: (readonly [SessionRecord, Outcome])[] = [];
  for (const record of candidates) {
    if (options.isStopped?.() === true) break;
    options.onStep?.(`checking ${record.id}`);
    const context = { ...contextOf(facts, options, { record, others }), users };
    outcomes.push([record, await handle(deps, record, { context, dryRun: options.dryRun })]);
  }
  const { cleaned, skipped, errors } = tally(outcomes);
  return { cleaned, skipped, errors: [...errors, ...facts.unreadable.map(failed)], dryRun: options.dryRun };
}

function failed(row: UnreadableSession): FailedSession {
  return { id: row.id, projectId: row.projectId, message: describeUnreadable(row) };
}

/** Live sessions. The row of a candidate may not say yet that it is over. */
function liveBeside(
  records: readonly SessionRecord[],
  candidates: readonly SessionRecord[],
): readonly SessionRecord[] {
  const ended = new Set(candidates.map(({ id }) => id));
  return records.filter(({ id, lifecycle }) => !isTerminal(lifecycle) && !ended.has(id));
}

function contextOf(
  facts: Facts,
  { olderThanMs, salvage = false }: CleanupOptions,
  { record, others }: { readonly record: SessionRecord; readonly others: readonly SessionRecord[] },
): Omit<JudgeContext, "users"> {
  const pathsInUse = new Set(others.map(({ metadata }) => metadata.workspacePath));
  const seen = facts.seen.get(record.id);
  const rival = rivalOf(others, record);
  return { seen, nowMs: facts.takenAtMs, olderThanMs, salvage, pathsInUse, rival };
}

async function handle(
  deps: SessionDeps,
  record: SessionRecord,
  { context, dryRun }: { readonly context: JudgeContext; readonly dryRun: boolean },
): Promise<Outcome> {
  const verdict = busyVerdict(deps, record) ?? (await judgeWorkspace(deps, record, context));
  if (verdict.kind !== "free") return verdict;
  if (dryRun) return { kind: "cleaned", trouble: null, salvageRef: null };
  return free(deps, record, context.salvage);
}

/** `null` when nothing of it is under way. */
function busyVerdict(deps: SessionDeps, { id }: SessionRecord): Kept | null {
  try {
    const holder = unfinishedOf(deps, id);
    return holder === undefined ? null : busy(holder);
  } catch (error) {
    return verdictOn(error);
  }
}

async function free(deps: SessionDeps, judged: SessionRecord, salvage: boolean): Promise<Outcome> {
  try {
    const intent = intentOf(deps, judged, salvage);
    const begun = await beginOnce(deps, intent, (store) => refuseMoved(store, judged));
    if (begun.kind !== "begun") return busy(begun.operation);
    const held = begun.operation;
    const freed = await carryOut(deps, held, () => finishCleanup(deps, held, judged));
    const { refusal, trouble, salvageRef } = freed;
    return refusal === null ? { kind: "cleaned", trouble, salvageRef } : verdictOn(refusal);
  } catch (error) {
    return isAoError(error, "operation_in_progress") ? { kind: "gone" } : verdictOn(error);
  }
}

function intentOf({ ids }: SessionDeps, { id, projectId }: SessionRecord, salvage: boolean): PrepareRequest {
  return {
    ...{ kind: "cleanup", projectId, sessionId: id, identifyingSessionId: id },
    ...{ subject: ids.uuid(), input: salvage ? { salvage } : null, progress: null },
  };
}

/** What was judged holds no more when another command was faster. */
function refuseMoved(store: SessionStore, { id, metadata }: SessionRecord): void {
  const row = store.get(id);
  if (row !== undefined && isCandidate(row) && row.metadata.launchId === metadata.launchId) return;
  throw new AoError("operation_in_progress", `session ${id} was freed or restored by another process`);
}

function busy(operation: Operation): Kept {
  return { kind: "skip", reason: "operation_in_progress", detail: operationInProgress(operation).message };
}

function tally(outcomes: readonly (readonly [SessionRecord, Outcome])[]): Omit<CleanupResult, "dryRun"> {
  const cleaned: CleanedSession[] = [];
  const skipped: SkippedSession[] = [];
  const errors: FailedSession[] = [];
  for (const [{ id, projectId }, outcome] of outcomes) {
    switch (outcome.kind) {
      case "cleaned":
        cleaned.push({ id, projectId, salvageRef: outcome.salvageRef });
        if (outcome.trouble !== null) errors.push({ id, projectId, message: outcome.trouble });
        break;
      case "skip":
        skipped.push({ id, projectId, reason: outcome.reason, detail: outcome.detail });
        break;
      case "error":
        errors.push({ id, projectId, message: outcome.message });
        break;
      case "gone":
        break;
      default:
        assertNever(outcome);
    }
  }
  return { cleaned, skipped, errors };
}
