import { assertNever } from "../domain/assert-never.ts";
import type { JsonValue } from "../domain/canonical-json.ts";
import {
  type Candidate,
  type CleanupRules,
  type PlanItem,
  planCleanup,
  type Remains,
  type Stays,
  skip,
} from "../domain/cleanup-plan.ts";
import { AoError, isAoError } from "../domain/errors.ts";
import type { ProjectId, SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { Operation } from "../domain/operation.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { SkipReason } from "../domain/workspace-finding.ts";
import type { SessionStore, UnreadableSession } from "../ports/session-store.ts";
import { candidateFacts, liveBeside, lookInto, obstacleOf, staysFor } from "./cleanup-facts.ts";
import { finishCleanup, isCandidate } from "./cleanup-steps.ts";
import type { OnStep, SessionDeps } from "./deps.ts";
import { foldFacts } from "./fold-facts.ts";
import { gatherFacts, lookFailures } from "./gather-facts.ts";
import { requireSight } from "./live-target.ts";
import { plannedJson } from "./merged-branches.ts";
import { saveFacts } from "./observe-sessions.ts";
import { beginOnce } from "./operations/begin-once.ts";
import { carryOut } from "./operations/carry-out.ts";
import { operationInProgress } from "./operations/operation-errors.ts";
import type { PrepareRequest } from "./operations/prepare-operation.ts";
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
  /** Deletes the branches of freed sessions that git proves merged into the default branch; no when not given. */
  readonly deleteMergedBranches?: boolean;
  readonly onStep?: OnStep;
  /** Asked before each session; those left when it says so are not in the result. */
  readonly isStopped?: () => boolean;
}

export interface CleanedSession {
  readonly id: SessionId;
  readonly projectId: ProjectId;
  /** Where the work that was in its worktree is kept; `null` when nothing was, and in a dry run. */
  readonly salvageRef: string | null;
  /** What only its branch and the stashes made on it have, when it was judged; `null` for nothing. */
  readonly remains: Remains | null;
  /** The branch that went, or in a dry run would go, with it; `null` when it stays. */
  readonly branchDeleted: string | null;
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

interface Candidates {
  readonly sessions: readonly SessionRecord[];
  readonly unreadable: readonly FailedSession[];
  readonly look: (record: SessionRecord) => Promise<Candidate>;
}

/** What became of an item of the plan. `trouble`: freed, but not all went well. */
type Outcome = Pick<CleanedSession, "salvageRef" | "branchDeleted"> & {
  readonly kind: "cleaned";
  readonly trouble: string | null;
};

/**
 * Frees the worktrees of terminated sessions that hold nothing to lose, or nothing that is not kept: judges all of
 * them first, then carries that plan out, each item judged once more. A dry run gives the plan and changes nothing.
 * One session's failure never stops the others.
 *
 * @throws AoError store_corrupt when there is something to judge and the store is damaged anywhere; nothing was
 *   removed. A row that cannot be read is among the errors.
 * @throws AoError runtime_unavailable when any session in question, or who uses the worktrees, could not be
 *   seen; nothing was changed.
 * @throws AoError git_unavailable when git could not be asked.
 */
export async function cleanupSessions(deps: SessionDeps, options: CleanupOptions): Promise<CleanupResult> {
  if (!options.dryRun) await recoverOperations(deps);
  const { sessions, unreadable, look } = await findCandidates(deps, options);
  const candidates: Candidate[] = [];
  for (const [at, record] of sessions.entries()) {
    if (options.isStopped?.() === true) break;
    options.onStep?.(`checking ${at + 1}/${sessions.length} ${record.id}`);
    candidates.push(await look(record));
  }
  const plan = planCleanup(candidates, rulesOf(options));
  const { dryRun } = options;
  const carriedOut = dryRun ? plan.map(asPlanned) : await carryPlanOut(deps, { plan, sessions }, options);
  const { cleaned, skipped, errors } = tally(carriedOut);
  return { cleaned, skipped, errors: [...errors, ...unreadable], dryRun };
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
  const sessions = all.filter(isCandidate);
  // All of the store is read for it: who else uses a worktree may be what is damaged.
  if (sessions.length > 0) deps.store.verify();
  const live = liveBeside(deps.store.rows().sessions, new Set(sessions.map(({ id }) => id)));
  const look = (record: SessionRecord) => {
    const moment = { seen: facts.seen.get(record.id), nowMs: facts.takenAtMs, live };
    const known = { facts: candidateFacts(record, moment, obstacleOf(deps, record)), record };
    return lookInto(deps, known, { rules: rulesOf(options), users });
  };
  return { sessions, unreadable: facts.unreadable.map(failed), look };
}

function failed(row: UnreadableSession): FailedSession {
  return { id: row.id, projectId: row.projectId, message: describeUnreadable(row) };
}

type CarriedOut = readonly [PlanItem, Outcome | Stays];

function asPlanned(item: PlanItem): CarriedOut {
  const { action } = item;
  if (action.kind !== "free") return [item, action];
  const branchDeleted = action.merged?.branch ?? null;
  return [item, { kind: "cleaned", trouble: null, salvageRef: null, branchDeleted }];
}

async function carryPlanOut(
  deps: SessionDeps,
  { plan, sessions }: { readonly plan: readonly PlanItem[]; readonly sessions: readonly SessionRecord[] },
  options: CleanupOptions,
): Promise<readonly CarriedOut[]> {
  const records = new Map(sessions.map((record) => [record.id, record]));
  const toFree = plan.filter(({ action }) => action.kind === "free");
  const done: CarriedOut[] = plan.filter(({ action }) => action.kind !== "free").map(asPlanned);
  for (const [at, item] of toFree.entries()) {
    if (options.isStopped?.() === true) break;
    options.onStep?.(`freeing ${at + 1}/${toFree.length} ${item.id}`);
    const record = records.get(item.id);
    if (record !== undefined) done.push([item, await free(deps, record, inputOf(item, options))]);
  }
  return plan.flatMap((item) => done.filter(([one]) => one === item));
}

/** What recovery has to know of an item. */
function inputOf({ action }: PlanItem, { salvage }: CleanupOptions): JsonValue {
  const input = {
    ...(salvage === true && { salvage }),
    ...plannedJson(action.kind === "free" ? action.merged : null),
  };
  return Object.keys(input).length === 0 ? null : input;
}

async function free(deps: SessionDeps, judged: SessionRecord, input: JsonValue): Promise<Outcome | Stays> {
  try {
    const intent = intentOf(deps, judged, input);
    const begun = await beginOnce(deps, intent, (store) => refuseMoved(store, judged));
    if (begun.kind !== "begun") return busy(begun.operation);
    const held = begun.operation;
    const { stays, ...freed } = await carryOut(deps, held, () => finishCleanup(deps, held, judged));
    return stays ?? { kind: "cleaned", ...freed };
  } catch (error) {
    if (isAoError(error, "operation_in_progress")) return skip("operation_in_progress", error.message);
    return staysFor(error);
  }
}

function intentOf({ ids }: SessionDeps, { id, projectId }: SessionRecord, input: JsonValue): PrepareRequest {
  return {
    ...{ kind: "cleanup", projectId, sessionId: id, identifyingSessionId: id },
    ...{ subject: ids.uuid(), input, progress: null },
  };
}

/** What was planned holds no more when another command was faster. */
function refuseMoved(store: SessionStore, { id, metadata }: SessionRecord): void {
  const row = store.get(id);
  if (row !== undefined && isCandidate(row) && row.metadata.launchId === metadata.launchId) return;
  throw new AoError("operation_in_progress", `session ${id} was freed or restored by another process`);
}

function busy(operation: Operation): Stays {
  return skip("operation_in_progress", operationInProgress(operation).message);
}

function tally(carriedOut: readonly CarriedOut[]): Omit<CleanupResult, "dryRun"> {
  const cleaned: CleanedSession[] = [];
  const skipped: SkippedSession[] = [];
  const errors: FailedSession[] = [];
  for (const [{ id, projectId, action }, outcome] of carriedOut) {
    switch (outcome.kind) {
      case "cleaned": {
        const remains = action.kind === "free" ? action.remains : null;
        const { salvageRef, branchDeleted, trouble } = outcome;
        cleaned.push({ id, projectId, salvageRef, remains, branchDeleted });
        if (trouble !== null) errors.push({ id, projectId, message: trouble });
        break;
      }
      case "skip":
        skipped.push({ id, projectId, reason: outcome.reason, detail: outcome.detail });
        break;
      case "error":
        errors.push({ id, projectId, message: outcome.message });
        break;
      default:
        assertNever(outcome);
    }
  }
  return { cleaned, skipped, errors };
}
