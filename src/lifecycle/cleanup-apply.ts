import type { JsonValue } from "../domain/canonical-json.ts";
import { type PlanItem, type Stays, skip } from "../domain/cleanup-plan.ts";
import { AoError, isAoError } from "../domain/errors.ts";
import type { LeasedOperation, Operation } from "../domain/operation.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { staysFor } from "./cleanup-facts.ts";
import { finishBranch, finishCleanup, isCandidate, mayHaveBranch } from "./cleanup-steps.ts";
import type { OnStep, SessionDeps } from "./deps.ts";
import { plannedJson } from "./merged-branches.ts";
import { beginOnce } from "./operations/begin-once.ts";
import { carryOut } from "./operations/carry-out.ts";
import { operationInProgress } from "./operations/operation-errors.ts";
import type { PrepareRequest } from "./operations/prepare-operation.ts";

export interface Applying {
  readonly salvage: boolean;
  readonly onStep: OnStep | undefined;
  /** Asked before each item; those left when it says so are not in the result. */
  readonly isStopped: (() => boolean) | undefined;
}

/** `trouble`: freed, but not all went well. */
export interface Cleaned {
  readonly kind: "cleaned";
  readonly salvageRef: string | null;
  readonly branchDeleted: string | null;
  readonly trouble: string | null;
}

/** Of a session whose worktree was freed before. */
interface BranchDeleted {
  readonly kind: "branch_deleted";
  readonly branch: string;
}

type Outcome = Cleaned | BranchDeleted | Stays;

/** An item of the plan and what became of it. */
export type CarriedOut = readonly [PlanItem, Outcome];

/** What a dry run tells of an item, and of one that stays any run. */
export function asPlanned(item: PlanItem): CarriedOut {
  const { action } = item;
  if (action.kind === "delete_branch")
    return [item, { kind: "branch_deleted", branch: action.merged.branch }];
  if (action.kind !== "free") return [item, action];
  const branchDeleted = action.merged?.branch ?? null;
  return [item, { kind: "cleaned", trouble: null, salvageRef: null, branchDeleted }];
}

/**
 * Frees what the plan says is to be freed, and deletes the branches that it names, each item judged once more, in the
 * order of the plan.
 *
 * @throws AoError git_unavailable when git stopped answering before anything was freed; later, that is the error of
 *   each item that is left.
 */
export async function carryPlanOut(
  deps: SessionDeps,
  { plan, sessions }: { readonly plan: readonly PlanItem[]; readonly sessions: readonly SessionRecord[] },
  options: Applying,
): Promise<readonly CarriedOut[]> {
  const records = new Map(sessions.map((record) => [record.id, record]));
  const toDo = plan.filter(isToDo);
  const done = new Map<PlanItem, Outcome>();
  let unable: AoError | null = null;
  for (const [at, item] of toDo.entries()) {
    if (options.isStopped?.() === true) break;
    options.onStep?.(`freeing ${at + 1}/${toDo.length} ${item.id}`);
    const record = records.get(item.id);
    if (record === undefined) continue;
    const outcome: Outcome | AoError =
      unable ?? (await carryItemOut(deps, record, { item, options }).catch(unavailable));
    if (isAoError(outcome)) unable = requireFreed(outcome, done);
    done.set(item, isAoError(outcome) ? { kind: "error", message: outcome.message } : outcome);
  }
  return plan.flatMap((item) => {
    const outcome = isToDo(item) ? done.get(item) : asPlanned(item)[1];
    return outcome === undefined ? [] : [[item, outcome] as const];
  });
}

function isToDo({ action }: PlanItem): boolean {
  return action.kind === "free" || action.kind === "delete_branch";
}

/** Git that does not answer, as a value. */
function unavailable(error: unknown): AoError {
  if (isAoError(error, "git_unavailable")) return error;
  throw error;
}

/** Once something was freed, what became of it has to be told. */
function requireFreed(error: AoError, done: ReadonlyMap<PlanItem, Outcome>): AoError {
  if ([...done.values()].some(({ kind }) => kind === "cleaned" || kind === "branch_deleted")) return error;
  throw error;
}

/** What recovery has to know of an item. */
function inputOf({ action }: PlanItem, { salvage }: Applying): JsonValue {
  if (action.kind === "delete_branch") return plannedJson(action.merged);
  const input = {
    ...(salvage && { salvage }),
    ...plannedJson(action.kind === "free" ? action.merged : null),
  };
  return Object.keys(input).length === 0 ? null : input;
}

async function carryItemOut(
  deps: SessionDeps,
  judged: SessionRecord,
  { item, options }: { readonly item: PlanItem; readonly options: Applying },
): Promise<Outcome> {
  const isOfBranch = item.action.kind === "delete_branch";
  try {
    const intent = intentOf(deps, judged, inputOf(item, options));
    const isStill = isOfBranch ? mayHaveBranch : isCandidate;
    const begun = await beginOnce(deps, intent, (store) => refuseMoved(store, judged, isStill));
    if (begun.kind !== "begun") return busy(begun.operation);
    const held = begun.operation;
    return isOfBranch ? await deleteBranch(deps, held, judged) : await free(deps, held, judged);
  } catch (error) {
    if (isAoError(error, "operation_in_progress")) return skip("operation_in_progress", error.message);
    return staysFor(error);
  }
}

async function free(deps: SessionDeps, held: LeasedOperation, judged: SessionRecord): Promise<Outcome> {
  const { stays, ...freed } = await carryOut(deps, held, () => finishCleanup(deps, held, judged));
  return stays === null ? { kind: "cleaned", ...freed } : told(stays, freed.salvageRef);
}

async function deleteBranch(
  deps: SessionDeps,
  held: LeasedOperation,
  judged: SessionRecord,
): Promise<Outcome> {
  const branch = await carryOut(deps, held, () => finishBranch(deps, held, judged));
  if (branch !== null) return { kind: "branch_deleted", branch };
  return skip("unknown", "its branch is not any more what was proven merged, and stays");
}

/** A salvage that was made for nothing is named, too. */
function told(stays: Stays, salvageRef: string | null): Stays {
  if (salvageRef === null) return stays;
  const kept = `; what was in it before is kept in ${salvageRef}`;
  return stays.kind === "skip"
    ? { ...stays, detail: stays.detail + kept }
    : { ...stays, message: stays.message + kept };
}

function intentOf({ ids }: SessionDeps, { id, projectId }: SessionRecord, input: JsonValue): PrepareRequest {
  return {
    ...{ kind: "cleanup", projectId, sessionId: id, identifyingSessionId: id },
    ...{ subject: ids.uuid(), input, progress: null },
  };
}

/** What was planned holds no more when another command was faster. */
function refuseMoved(
  store: SessionStore,
  { id, metadata }: SessionRecord,
  isStill: (row: SessionRecord) => boolean,
): void {
  const row = store.get(id);
  if (row !== undefined && isStill(row) && row.metadata.launchId === metadata.launchId) return;
  throw new AoError("operation_in_progress", `session ${id} was freed or restored by another process`);
}

function busy(operation: Operation): Stays {
  return skip("operation_in_progress", operationInProgress(operation).message);
}
