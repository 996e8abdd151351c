import { AoError, codeOf, errorMessage, isAoError } from "../../domain/errors.ts";
import { EVERY_PROJECT } from "../../domain/ids.ts";
import type { LeasedOperation, Operation } from "../../domain/operation.ts";
import type { SessionDeps } from "../deps.ts";
import { beginOnce } from "../operations/begin-once.ts";
import { operationLedger } from "../operations/ledger.ts";
import { operationInProgress } from "../operations/operation-errors.ts";
import type { PrepareRequest } from "../operations/prepare-operation.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { planPools, tendPools, untendedPools } from "../pool/tend-pools.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import type { RequestOptions } from "../request-options.ts";
import type { CleanupReport } from "./cleanup-report.ts";
import { finishRun, hasBegun, hasPlan, recordPlan, reportIn } from "./cleanup-run.ts";
import { type CleanupOptions, cleanupSessions, planSessions } from "./cleanup-sessions.ts";

export interface CleanupRequest extends CleanupOptions, RequestOptions {}

const NOTHING: CleanupReport = {
  ...{ cleaned: [], branchesDeleted: [], skipped: [], errors: [], dryRun: false, pool: [], poolErrors: [] },
};

/**
 * `cleanupSessions`, and then the worktrees made ahead that are of no use any more. Under a request id it is one
 * operation: its plan is on record before anything of it is carried out, whoever takes it over carries that very
 * plan out, and a repeat gives its report.
 *
 * @throws AoError usage for a dry run with a request id.
 * @throws AoError request_conflict, operation_in_progress while another process is at it; and as `cleanupSessions`.
 */
export async function cleanup(deps: SessionDeps, request: CleanupRequest): Promise<CleanupReport> {
  const { requestId = null, ...options } = request;
  if (requestId === null) return cleanupPlainly(deps, options);
  if (options.dryRun) {
    throw new AoError("usage", "a dry run does nothing that a request id could keep from being done twice", {
      hint: "leave one of them out",
    });
  }
  await recoverOperations(deps, ({ subject }) => subject === requestId);
  const begun = await beginOnce(deps, intentOf(options, requestId));
  if (begun.kind === "repeat") return reportIn(begun.operation);
  const held = begun.kind === "begun" ? begun.operation : await takeLeft(deps, begun.operation);
  return operationLedger(deps).keepLease(held, () => carryRunOut(deps, held, options));
}

async function cleanupPlainly(deps: SessionDeps, options: CleanupOptions): Promise<CleanupReport> {
  const { projectId, dryRun } = options;
  const cleaned = await cleanupSessions(deps, options);
  const tending = dryRun ? planPools(deps, projectId) : tendPools(deps, { projectId, fills: false });
  const { pool, errors: poolErrors } = await tending.catch(untendedPools);
  return { ...cleaned, pool, poolErrors };
}

function intentOf(options: CleanupOptions, requestId: string): PrepareRequest {
  const { projectId, olderThanMs, salvage = false, deleteMergedBranches = false } = options;
  return {
    ...{ kind: "cleanup", projectId: EVERY_PROJECT, sessionId: null, identifyingSessionId: null },
    ...{
      subject: requestId,
      input: { projectId, olderThanMs, salvage, deleteMergedBranches },
      progress: null,
    },
  };
}

/** One that was interrupted is carried on, though recovery would wait with it. @throws AoError operation_in_progress */
async function takeLeft(deps: SessionDeps, left: Operation): Promise<LeasedOperation> {
  const claimed = await operationLedger(deps).claim(left.id, { evenIfNotDue: true });
  if (claimed.kind !== "claimed") throw operationInProgress(claimed.operation);
  return claimed.operation;
}

async function carryRunOut(
  deps: SessionDeps,
  held: LeasedOperation,
  options: CleanupOptions,
): Promise<CleanupReport> {
  const ledger = operationLedger(deps);
  try {
    if (!(await makePlan(deps, held, options))) return NOTHING;
    const outcome = await finishRun(deps, held, options);
    if (outcome.kind === "left") ledger.release(held, { lastError: outcome.why });
    return outcome.report;
  } catch (error) {
    giveUp(deps, held, error);
    throw error;
  }
}

/** False when it was interrupted meanwhile: nothing was done, and the operation has ended. */
async function makePlan(deps: SessionDeps, held: LeasedOperation, options: CleanupOptions): Promise<boolean> {
  if (hasPlan(held)) return true;
  const planned = await planSessions(deps, options);
  const { pool } = await planPools(deps, options.projectId).catch(untendedPools);
  if (options.isStopped?.() === true) {
    const error = { code: "interrupted", message: "it was interrupted before it had made its plan" };
    operationLedger(deps).fail(held, { error, result: null });
    return false;
  }
  await recordPlan(deps, held, { ...planned, pool });
  return true;
}

/**
 * Before the plan, and where git could not be asked for any of it, nothing was done: the same request begins anew. Else whoever
 * comes next carries the plan on. A claim that is lost is another's.
 */
function giveUp(deps: SessionDeps, held: LeasedOperation, error: unknown): void {
  if (isAoError(error, "operation_in_progress")) return;
  const ledger = operationLedger(deps);
  const message = errorMessage(error);
  try {
    const run = requireOperation(deps, held.id);
    const mayBeBegun = hasPlan(run) && (!isAoError(error, "git_unavailable") || hasBegun(deps, run));
    if (mayBeBegun) ledger.release(held, { lastError: message });
    else
      ledger.fail(held, {
        error: { code: codeOf(error), message },
        result: null,
      });
  } catch {
    // The lease runs out, and the operation is recovered then.
  }
}
