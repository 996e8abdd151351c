import { type JsonValue, jsonMembers } from "../../domain/canonical-json.ts";
import { type PlanItem, type Stays, skip } from "../../domain/cleanup-plan.ts";
import { AoError, isAoError } from "../../domain/errors.ts";
import type { CompletedState, LeasedOperation, Operation, OperationId } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import { beginOnce } from "../operations/begin-once.ts";
import { carryOut } from "../operations/carry-out.ts";
import { operationInProgress } from "../operations/operation-errors.ts";
import type { PrepareRequest } from "../operations/prepare-operation.ts";
import { isFreedError } from "../salvage/freed-error.ts";
import { staysFor } from "./cleanup-facts.ts";
import { finishBranch, finishCleanup, freedIn, isCandidate, mayHaveBranch } from "./cleanup-steps.ts";
import { plannedJson } from "./merged-branches.ts";

export interface Applying {
  readonly salvage: boolean;
  readonly onStep: OnStep | undefined;
  /** Asked before each item; those left when it says so are not in the result. */
  readonly isStopped: (() => boolean) | undefined;
  /**
   * The operation that all of it is part of: one of its sessions is then begun anew only when it failed, and what an
   * earlier process came to counts. Each time is another one without.
   */
  readonly run?: OperationId;
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

type Done = Cleaned | BranchDeleted | Stays;

/** An item of the plan and what became of it. */
export type CarriedOut = readonly [PlanItem, Done];

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
 * order of the plan. What an earlier process of the same `run` has left half done is not in the result: whoever
 * recovers operations comes first.
 *
 * @throws AoError git_unavailable when git stopped answering before anything was freed; later, that is the error of
 *   each item that is left.
 */
export async function carryPlanOut(
  deps: SessionDeps,
  { plan, sessions }: { readonly plan: readonly PlanItem[]; readonly sessions: readonly SessionRecord[] },
  options: Applying,
): Promise<readonly CarriedOut[]> {
  const toDo = itemsToDo(plan, sessions);
  const done = new Map<PlanItem, Done>();
  let unable: AoError | null = null;
  for (const [at, one] of toDo.entries()) {
    if (options.isStopped?.() === true) break;
    options.onStep?.(`freeing ${at + 1}/${toDo.length} ${one.item.id}`);
    const outcome: Outcome = unable ?? (await tryItem(deps, one, options));
    if (isAoError(outcome)) unable = requireFreed(outcome, done);
    if (outcome !== null) done.set(one.item, told(outcome));
  }
  return plan.flatMap((item) => {
    const outcome = isToDo(item) ? done.get(item) : asPlanned(item)[1];
    return outcome === undefined ? [] : [[item, outcome] as const];
  });
}

type Outcome = Done | AoError | null;

const told = (outcome: Done | AoError): Done =>
  isAoError(outcome) ? { kind: "error", message: outcome.message } : outcome;

interface ToDo {
  readonly record: SessionRecord;
  readonly item: PlanItem;
}

function isToDo({ action }: PlanItem): boolean {
  return action.kind === "free" || action.kind === "delete_branch";
}

function itemsToDo(plan: readonly PlanItem[], sessions: readonly SessionRecord[]): readonly ToDo[] {
  const records = new Map(sessions.map((record) => [record.id, record]));
  return plan.flatMap((item) => {
    const record = isToDo(item) ? records.get(item.id) : undefined;
    return record === undefined ? [] : [{ item, record }];
  });
}

function tryItem(deps: SessionDeps, { record, item }: ToDo, options: Applying): Promise<Outcome> {
  const intent = intentOf(deps, record, { input: inputOf(item, options), run: options.run });
  const way = item.action.kind === "free" ? freeing(deps, record) : deletingBranch(deps, record);
  return carryItemOut(deps, intent, way).catch(unavailable);
}

/** Git that does not answer, as a value. */
function unavailable(error: unknown): AoError {
  if (isAoError(error, "git_unavailable")) return error;
  throw error;
}

/** Once something was freed, what became of it has to be told. */
function requireFreed(error: AoError, done: ReadonlyMap<PlanItem, Done>): AoError {
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

/** How one item is carried out. */
interface Way {
  readonly judged: SessionRecord;
  /** Whether a row is still one for which this was planned. */
  isStill(row: SessionRecord): boolean;
  carryOut(held: LeasedOperation): Promise<Done>;
}

function freeing(deps: SessionDeps, judged: SessionRecord): Way {
  return {
    judged,
    isStill: isCandidate,
    async carryOut(held) {
      const { stays, ...freed } = await finishCleanup(deps, held, judged);
      return stays === null ? { kind: "cleaned", ...freed } : withSalvage(stays, freed.salvageRef);
    },
  };
}

function deletingBranch(deps: SessionDeps, judged: SessionRecord): Way {
  const finish = async (held: LeasedOperation) => branchDone(await finishBranch(deps, held, judged));
  return { judged, isStill: mayHaveBranch, carryOut: finish };
}

function branchDone(branch: string | null): Done {
  if (branch !== null) return { kind: "branch_deleted", branch };
  return skip("unknown", "its branch is not any more what was proven merged, and stays");
}

/** `null` when it is half done. */
async function carryItemOut(deps: SessionDeps, intent: PrepareRequest, way: Way): Promise<Done | null> {
  try {
    const begun = await beginOnce(deps, intent, (store) => refuseMoved(store, way));
    if (begun.kind === "repeat") return outcomeIn(begun.operation);
    if (begun.kind === "busy") {
      return begun.operation.subject === intent.subject ? null : busy(begun.operation);
    }
    const held = begun.operation;
    return await carryOut(deps, held, () => way.carryOut(held));
  } catch (error) {
    if (isAoError(error, "operation_in_progress")) return skip("operation_in_progress", error.message);
    return cleanedAllTheSame(error) ?? staysFor(error);
  }
}

/** Its worktree is gone; whoever comes next does what is left of it. */
function cleanedAllTheSame(error: unknown): Cleaned | null {
  if (!isFreedError(error)) return null;
  const { salvageRef, branchDeleted } = error.details;
  const textOf = (value: unknown) => (typeof value === "string" ? value : null);
  const trouble = `${error.message}; ${error.hint ?? ""}`;
  return { kind: "cleaned", salvageRef: textOf(salvageRef), branchDeleted: textOf(branchDeleted), trouble };
}

/** A salvage that was made for nothing is named, too. */
function withSalvage(stays: Stays, salvageRef: string | null): Stays {
  if (salvageRef === null) return stays;
  const kept = `; what was in it before is kept in ${salvageRef}`;
  return stays.kind === "skip"
    ? { ...stays, detail: stays.detail + kept }
    : { ...stays, message: stays.message + kept };
}

function outcomeIn(operation: Operation<CompletedState>): Done {
  const branch = jsonMembers(operation.state.result)?.["branch"];
  if (branch !== undefined) return branchDone(typeof branch === "string" ? branch : null);
  const { stays, ...freed } = freedIn(operation);
  return stays === null ? { kind: "cleaned", ...freed } : withSalvage(stays, freed.salvageRef);
}

function intentOf(
  { ids }: SessionDeps,
  { id, projectId }: SessionRecord,
  { input, run }: { readonly input: JsonValue; readonly run: OperationId | undefined },
): PrepareRequest {
  return {
    ...{ kind: "cleanup", projectId, sessionId: id, identifyingSessionId: id },
    ...{ subject: run ?? ids.uuid(), input, progress: null },
  };
}

/** What was planned holds no more when another command was faster. */
function refuseMoved(store: SessionStore, { judged: { id, metadata }, isStill }: Way): void {
  const row = store.get(id);
  if (row !== undefined && isStill(row) && row.metadata.launchId === metadata.launchId) return;
  throw new AoError("operation_in_progress", `session ${id} was freed or restored by another process`);
}

function busy(operation: Operation): Stays {
  return skip("operation_in_progress", operationInProgress(operation).message);
}
