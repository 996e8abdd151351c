import {
  type Candidate,
  type CandidateFacts,
  type CleanupRules,
  decideUnseen,
  type Remains,
  refusalOf,
  type Stays,
  skip,
  skipFor,
  type WorkspaceFacts,
} from "../../domain/cleanup-plan.ts";
import { errorMessage, isAoError } from "../../domain/errors.ts";
import type { RuntimeObservation } from "../../domain/facts.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import { isKeepable } from "../../domain/salvage.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { ProcessUse } from "../../ports/process-table.ts";
import type { WorkspaceSurvey } from "../../ports/workspace-facts.ts";
import type { SessionDeps } from "../deps.ts";
import { describeRival, isOwnLaunch, rivalOf } from "../launch-owner.ts";
import { mayStillRun } from "../live-target.ts";
import { operationInProgress } from "../operations/operation-errors.ts";
import { unfinishedOf } from "../operations/prepare-operation.ts";
import { runtimeTarget, workspaceRef } from "../session-refs.ts";
import { findingsIn } from "../workspace-refusal.ts";
import { type Beside, findMerged } from "./merged-branches.ts";

/** What is known of all sessions at one moment. */
export interface Moment {
  readonly seen: RuntimeObservation | undefined;
  readonly nowMs: number;
  /** Sessions that are not over. */
  readonly live: readonly SessionRecord[];
}

/** Live sessions. The row of one that ended may not say so yet. */
export function liveBeside(
  records: readonly SessionRecord[],
  ended: ReadonlySet<SessionId>,
): readonly SessionRecord[] {
  return records.filter(({ id, lifecycle }) => !isTerminal(lifecycle) && !ended.has(id));
}

/** The facts of one terminated session; nobody else works on it unless `obstacle` says so. */
export function candidateFacts(
  record: SessionRecord,
  { seen, nowMs, live }: Moment,
  obstacle: Stays | null = null,
): CandidateFacts {
  const { id, projectId, metadata, terminatedAtMs, updatedAtMs } = record;
  const rival = rivalOf(live, record);
  const isOwn = rival === undefined || isOwnLaunch(seen);
  return {
    ...{ id, projectId, obstacle, workspacePath: metadata.workspacePath },
    isFreed: metadata.workspaceFreedAtMs !== null,
    agent: agentOf(seen),
    endedForMs: nowMs - (terminatedAtMs ?? updatedAtMs),
    isShared: live.some((other) => other.metadata.workspacePath === metadata.workspacePath),
    rival: isOwn ? null : describeRival(id, rival),
  };
}

function agentOf(seen: RuntimeObservation | undefined): CandidateFacts["agent"] {
  if (seen?.runtime.kind === "unknown") return "unknown";
  return mayStillRun(seen) ? "alive" : "ended";
}

/**
 * The facts of one session whose operation this process holds, as of now.
 *
 * @throws AoError runtime_unavailable when nobody could look.
 */
export async function factsNow(
  { store, runtime, clock }: Pick<SessionDeps, "store" | "runtime" | "clock">,
  record: SessionRecord,
): Promise<CandidateFacts> {
  const target = runtimeTarget(record);
  const seen = target === undefined ? undefined : (await runtime.look([target])).get(record.id);
  const live = liveBeside(store.rows().sessions, new Set([record.id]));
  return candidateFacts(record, { seen, nowMs: clock.nowMs(), live });
}

/** What is under way with a session; `null` for nothing. */
export function obstacleOf(deps: SessionDeps, { id }: SessionRecord): Stays | null {
  try {
    const holder = unfinishedOf(deps, id);
    return holder === undefined ? null : skip("operation_in_progress", operationInProgress(holder).message);
  } catch (error) {
    return staysFor(error);
  }
}

/** What all candidates are judged with. */
export interface Seeing {
  readonly rules: CleanupRules;
  /** One look at who uses any worktree. */
  readonly users: readonly ProcessUse[];
  readonly beside: Beside;
}

/**
 * Looks into the worktree of a candidate where that decides, or for its branch where it has none any more.
 *
 * @throws AoError git_unavailable when git could not be asked.
 */
export async function lookInto(
  deps: SessionDeps,
  { facts, record }: { readonly facts: CandidateFacts; readonly record: SessionRecord },
  seeing: Seeing,
): Promise<Candidate> {
  if (decideUnseen(facts, seeing.rules) !== null) return { facts, workspace: null };
  try {
    return { facts, workspace: await workspaceFacts(deps, record, seeing) };
  } catch (error) {
    return { facts, workspace: { kind: "stays", why: staysFor(error) } };
  }
}

async function workspaceFacts(
  deps: SessionDeps,
  record: SessionRecord,
  { rules, users, beside }: Seeing,
): Promise<WorkspaceFacts> {
  const { workspace, snapshots } = deps;
  const mergedOf = (branch: string) => findMerged(deps, record, { branch, beside });
  if (record.metadata.workspaceFreedAtMs !== null) {
    return { kind: "freed", merged: await mergedOf(record.metadata.branch) };
  }
  const ref = workspaceRef(record);
  const survey = await workspace.survey(ref, users);
  const { findings } = survey;
  const isToKeep = rules.salvage && findings.length > 0 && isKeepable(findings);
  const unkeepable = isToKeep ? await snapshots.obstacles(ref) : [];
  const seen = { findings, unkeepable };
  const isFree = refusalOf(seen, rules) === null;
  if (!isFree) return { kind: "seen", ...seen, remains: null, merged: null };
  const branch = survey.branch ?? record.metadata.branch;
  const merged = rules.deleteMergedBranches ? await mergedOf(branch) : null;
  return { kind: "seen", ...seen, remains: remainsOf(survey), merged };
}

function remainsOf({ branch, commits, stashes }: WorkspaceSurvey): Remains | null {
  if (branch === null || commits.length + stashes.length === 0) return null;
  return { branch, commits: commits.length, stashes: stashes.length };
}

/**
 * What an error of the workspace means for this one session.
 *
 * @throws AoError git_unavailable as it came: no other session could be judged either.
 */
export function staysFor(error: unknown): Stays {
  if (isAoError(error, "git_unavailable")) throw error;
  if (isAoError(error, "workspace_dirty")) return skipFor(findingsIn(error));
  if (isAoError(error, "workspace_unsafe_path")) return skip("unsafe_path", error.message);
  return { kind: "error", message: errorMessage(error) };
}
