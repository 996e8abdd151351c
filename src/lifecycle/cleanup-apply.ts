import type { JsonValue } from "../domain/canonical-json.ts";
import { type PlanItem, type Stays, skip } from "../domain/cleanup-plan.ts";
import { AoError, isAoError } from "../domain/errors.ts";
import type { Operation } from "../domain/operation.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { SessionStore } from "../ports/session-store.ts";
import { staysFor } from "./cleanup-facts.ts";
import { finishCleanup, isCandidate } from "./cleanup-steps.ts";
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

/** An item of the plan and what became of it. */
export type CarriedOut = readonly [PlanItem, Cleaned | Stays];

/** What a dry run tells of an item, and of one that stays any run. */
export function asPlanned(item: PlanItem): CarriedOut {
  const { action } = item;
  if (action.kind !== "free") return [item, action];
  const branchDeleted = action.merged?.branch ?? null;
  return [item, { kind: "cleaned", trouble: null, salvageRef: null, branchDeleted }];
}

/**
 * Frees what the plan says is to be freed, each item judged once more, in the order of the plan.
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
  const toFree = plan.filter(({ action }) => action.kind === "free");
  const done = new Map<PlanItem, Cleaned | Stays>();
  let unable: AoError | null = null;
  for (const [at, item] of toFree.entries()) {
    if (options.isStopped?.() === true) break;
    options.onStep?.(`freeing ${at + 1}/${toFree.length} ${item.id}`);
    const record = records.get(item.id);
    if (record === undefined) continue;
    const outcome: Cleaned | Stays | AoError =
      unable ?? (await free(deps, record, inputOf(item, options)).catch(unavailable));
    if (isAoError(outcome)) unable = requireFreed(outcome, done);
    done.set(item, isAoError(outcome) ? { kind: "error", message: outcome.message } : outcome);
  }
  return plan.flatMap((item) => {
    const outcome = item.action.kind === "free" ? done.get(item) : asPlanned(item)[1];
    return outcome === undefined ? [] : [[item, outcome] as const];
  });
}

/** Git that does not answer, as a value. */
function unavailable(error: unknown): AoError {
  if (isAoError(error, "git_unavailable")) return error;
  throw error;
}

/** Once something was freed, what became of it has to be told. */
function requireFreed(error: AoError, done: ReadonlyMap<PlanItem, Cleaned | Stays>): AoError {
  if ([...done.values()].some(({ kind }) => kind === "cleaned")) return error;
  throw error;
}

/** What recovery has to know of an item. */
function inputOf({ action }: PlanItem, { salvage }: Applying): JsonValue {
  const input = {
    ...(salvage && { salvage }),
    ...plannedJson(action.kind === "free" ? action.merged : null),
  };
  return Object.keys(input).length === 0 ? null : input;
}

async function free(deps: SessionDeps, judged: SessionRecord, input: JsonValue): Promise<Cleaned | Stays> {
  try {
    const intent = intentOf(deps, judged, input);
    const begun = await beginOnce(deps, intent, (store) => refuseMoved(store, judged));
    if (begun.kind !== "begun") return busy(begun.operation);
    const held = begun.operation;
    const { stays, ...freed } = await carryOut(deps, held, () => finishCleanup(deps, held, judged));
    return stays === null ? { kind: "cleaned", ...freed } : told(stays, freed.salvageRef);
  } catch (error) {
    if (isAoError(error, "operation_in_progress")) return skip("operation_in_progress", error.message);
    return staysFor(error);
  }
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
function refuseMoved(store: SessionStore, { id, metadata }: SessionRecord): void {
  const row = store.get(id);
  if (row !== undefined && isCandidate(row) && row.metadata.launchId === metadata.launchId) return;
  throw new AoError("operation_in_progress", `session ${id} was freed or restored by another process`);
}

function busy(operation: Operation): Stays {
  return skip("operation_in_progress", operationInProgress(operation).message);
}
