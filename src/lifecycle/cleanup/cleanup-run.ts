import { type JsonValue, jsonMembers, toJson } from "../../domain/canonical-json.ts";
import type { PlanItem } from "../../domain/cleanup-plan.ts";
import { parseLaunchId, parseProjectId, parseSessionId } from "../../domain/ids.ts";
import type { CompletedState, LeasedOperation, Operation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { operationInProgress } from "../operations/operation-errors.ts";
import { findOperation } from "../operations/prepare-operation.ts";
import { requireShape, type Shape } from "../operations/progress-members.ts";
import { requireOperation } from "../operations/write-operation.ts";
import type { PoolChange } from "../pool/pool-change.ts";
import { type TendedPools, tendPools, untendedPools } from "../pool/tend-pools.ts";
import { wasFreed } from "../recovery/free-orphan.ts";
import { type CarriedOut, carryPlanOut } from "./cleanup-apply.ts";
import { type CleanupReport, type FailedSession, tally } from "./cleanup-report.ts";

/** What a cleanup of many sessions is going to do, as its operation keeps it. */
export interface RunPlan {
  readonly items: readonly RunItem[];
  readonly unreadable: readonly FailedSession[];
  /** What of the worktrees made ahead was of no use. */
  readonly pool: readonly PoolChange[];
}

/** An item of the plan, and the launch that its session had. */
interface RunItem extends PlanItem {
  readonly launchId: SessionRecord["metadata"]["launchId"];
}

export interface RunControl {
  readonly onStep?: OnStep | undefined;
  readonly isStopped?: (() => boolean) | undefined;
}

/** What a run has come to; `left`: not all of its plan was carried out, and it is not completed. */
export type RunOutcome =
  | { readonly kind: "done"; readonly report: CleanupReport }
  | { readonly kind: "left"; readonly report: CleanupReport; readonly why: string };

/** Whether an operation is a cleanup of many sessions under one request id. */
export function isRun({ kind, sessionId }: Pick<Operation, "kind" | "sessionId">): boolean {
  return kind === "cleanup" && sessionId === null;
}

/** Puts the plan on record, before anything of it is carried out. */
export async function recordPlan(
  deps: SessionDeps,
  held: LeasedOperation,
  { plan, sessions, unreadable, pool }: RunPlanned,
): Promise<void> {
  const launches = new Map(sessions.map(({ id, metadata }) => [id, metadata.launchId]));
  const items = plan.map((item) => ({ ...item, launchId: launches.get(item.id) ?? null }));
  await crossing(deps, "cleanup.planned", () =>
    operationLedger(deps).checkpoint(held, toJson({ items, unreadable, pool })),
  );
}

interface RunPlanned extends Omit<RunPlan, "items"> {
  readonly plan: readonly PlanItem[];
  readonly sessions: readonly SessionRecord[];
}

/** Whether its plan is on record: something of it may be carried out. */
export function hasPlan({ progress }: Pick<Operation, "progress">): boolean {
  return jsonMembers(progress)?.["items"] !== undefined;
}

/**
 * Carries out what is left of the plan on record, and completes the operation with the report. May be repeated:
 * what an earlier process came to counts.
 *
 * @throws AoError as `carryPlanOut`; data_dir_unusable.
 */
export async function finishRun(
  deps: SessionDeps,
  held: LeasedOperation,
  { onStep, isStopped }: RunControl = {},
): Promise<RunOutcome> {
  const { items, unreadable, pool } = planOf(requireOperation(deps, held.id));
  const input = jsonMembers(held.input) ?? {};
  const applying = { salvage: input["salvage"] === true, run: held.id, onStep, isStopped };
  const known = items.flatMap((item) => judgedRecord(deps, item) ?? []);
  const carriedOut = await carryPlanOut(deps, { plan: items, sessions: known }, applying);
  const told = new Set(carriedOut.map(([{ id }]) => id));
  if (known.some(({ id }) => !told.has(id))) {
    const halfDone = items.filter(({ id }) => !told.has(id)).flatMap((item) => halfDoneIn(deps, held, item));
    const report = reportOf(carriedOut, [...halfDone, ...unreadable], { pool: [], errors: [] });
    return { kind: "left", report, why: halfDone[0]?.message ?? "it was interrupted" };
  }
  const scope = input["projectId"];
  const projectId = typeof scope === "string" ? (parseProjectId(scope) ?? null) : null;
  const tended = await tendPools(deps, { projectId, fills: false }).catch(untendedPools);
  const report = reportOf(carriedOut, unreadable, await withGone(deps, pool, tended));
  await crossing(deps, "cleanup.complete", () => operationLedger(deps).complete(held, toJson(report)));
  return { kind: "done", report };
}

/** Its error when an earlier process of the run has begun it and nobody could finish it. */
function halfDoneIn(deps: SessionDeps, run: LeasedOperation, item: RunItem): readonly FailedSession[] {
  const { id, projectId } = item;
  const operation = operationOf(deps, run, item);
  if (operation === undefined || isEnded(operation)) return [];
  const { lastError } = operation;
  const message = operationInProgress(operation).message + (lastError === null ? "" : `: ${lastError}`);
  return [{ id, projectId, message }];
}

function operationOf(deps: SessionDeps, run: Operation, { id, projectId }: RunItem): Operation | undefined {
  return findOperation(deps, { kind: "cleanup", projectId, identifyingSessionId: id, subject: run.id });
}

const isEnded = ({ state }: Operation): boolean => state.kind === "completed" || state.kind === "failed";

/** Whether any process has carried out something of its plan, or may have. */
export function hasBegun(deps: SessionDeps, run: Operation): boolean {
  return planOf(run).items.some((item) => {
    const operation = operationOf(deps, run, item);
    return operation !== undefined && operation.state.kind !== "failed";
  });
}

/** As it was judged: what was launched anew since is another matter. */
function judgedRecord({ store }: SessionDeps, { id, launchId }: RunItem): SessionRecord | undefined {
  const record = store.get(id);
  return record && { ...record, metadata: { ...record.metadata, launchId } };
}

function reportOf(
  carriedOut: readonly CarriedOut[],
  unreadable: readonly FailedSession[],
  { pool, errors: poolErrors }: TendedPools,
): CleanupReport {
  const { errors, ...told } = tally(carriedOut);
  return { ...told, errors: [...errors, ...unreadable], dryRun: false, pool, poolErrors };
}

/** With those that an earlier process of this run has taken away and could not tell of; a spawn may have taken others. */
async function withGone(
  deps: SessionDeps,
  planned: readonly PoolChange[],
  tended: TendedPools,
): Promise<TendedPools> {
  const untold = planned.filter(
    ({ where, action }) => action === "removed" && !tended.pool.some((one) => one.where === where),
  );
  if (untold.length === 0) return tended;
  const there = new Set((await deps.workspace.marked()).map(({ ref }) => ref.path));
  const gone = untold.filter(({ where }) => !there.has(where) && wasFreed(deps, where));
  return { ...tended, pool: [...gone, ...tended.pool] };
}

/**
 * Carries a run on that its process left. One that had not yet made its plan has done nothing and is ended: the
 * same request begins anew.
 *
 * @throws AoError operation_in_progress when a session of it is still half done; and as `finishRun`.
 */
export async function recoverRun(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  if (hasPlan(held)) {
    const { kind } = await finishRun(deps, held);
    if (kind === "left") throw operationInProgress(held);
    return;
  }
  const error = { code: "interrupted", message: "it was broken off before it had made its plan" };
  await crossing(deps, "cleanup.fail", () => operationLedger(deps).fail(held, { error, result: null }));
}

const isList = (value: JsonValue | undefined): boolean => Array.isArray(value);

const isItems = (value: JsonValue | undefined): boolean =>
  Array.isArray(value) && value.every((item) => isItem(jsonMembers(item)));

function isItem(item: { readonly [name: string]: JsonValue } | undefined): boolean {
  const { id, projectId, launchId, action } = item ?? {};
  const isLaunch = launchId === null || parseLaunchId(String(launchId)) !== undefined;
  const kind = jsonMembers(action ?? null)?.["kind"];
  return (
    parseSessionId(String(id)) !== undefined &&
    parseProjectId(String(projectId)) !== undefined &&
    isLaunch &&
    (kind === "free" || kind === "delete_branch" || kind === "skip" || kind === "error")
  );
}

const PLAN: Shape = { items: isItems, unreadable: isList, pool: isList };

/** @throws AoError store_corrupt when it cannot be read. */
function planOf(operation: Operation): RunPlan {
  const value = { what: "progress", json: operation.progress };
  return requireShape(operation, value, PLAN) as unknown as RunPlan;
}

const REPORT: Shape = {
  ...{
    cleaned: isList,
    branchesDeleted: isList,
    skipped: isList,
    errors: isList,
    pool: isList,
    poolErrors: isList,
  },
};

/** What a run came to that was carried out before. @throws AoError store_corrupt when it cannot be read. */
export function reportIn(operation: Operation<CompletedState>): CleanupReport {
  const value = { what: "state.result", json: operation.state.result };
  return requireShape(operation, value, REPORT) as unknown as CleanupReport;
}
