import { toJson } from "../../domain/canonical-json.ts";
import { dataLayout } from "../../domain/data-layout.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { Project } from "../../domain/project.ts";
import { SPARE_PREFIX, spareName } from "../../domain/spare-name.ts";
import type { SpareBase } from "../../ports/spares.ts";
import type { WorkspacePlan, WorkspaceRef } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { beginOnce } from "../operations/begin-once.ts";
import { carryOut } from "../operations/carry-out.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { operationInProgress } from "../operations/operation-errors.ts";
import { PLAN_SHAPE, REF_SHAPE, requireShape } from "../operations/progress-members.ts";
import { takeBackLeft } from "../recovery/take-back-left.ts";
import { discardWorkspace } from "../undo-steps.ts";

interface FillProgress {
  readonly ref: WorkspaceRef;
  readonly plan: WorkspacePlan;
}

/**
 * Makes one worktree ahead. What a process that dies has begun is taken back by whoever comes next.
 *
 * @returns where it is.
 * @throws AoError as `Spares.plan` and `Spares.make`; nothing is left then.
 */
export async function fillPool(deps: SessionDeps, project: Project, base: SpareBase): Promise<string> {
  const { id: projectId, repositoryPath } = project;
  const sessionId = spareName(deps.store.allocateSessionNumber(SPARE_PREFIX));
  const path = dataLayout(deps.dataDir).worktree(projectId, sessionId);
  const ref: WorkspaceRef = { projectId, sessionId, repositoryPath, path };
  const begun = await beginOnce(deps, {
    ...({ kind: "fill_pool", projectId, sessionId, identifyingSessionId: sessionId } as const),
    ...{ subject: deps.ids.uuid(), input: { baseCommit: base.baseCommit }, progress: null },
  });
  if (begun.kind !== "begun") throw operationInProgress(begun.operation);
  const held = begun.operation;
  return carryOut(deps, held, () => make(deps, held, { ref, base }));
}

async function make(
  deps: SessionDeps,
  held: LeasedOperation,
  { ref, base }: { readonly ref: WorkspaceRef; readonly base: SpareBase },
): Promise<string> {
  const ledger = operationLedger(deps);
  const plan = await deps.spares.plan(ref, base, held.id);
  await crossing(deps, "fill_pool.planned", () => ledger.checkpoint(held, toJson({ ref, plan })));
  await crossing(deps, "fill_pool.workspace.create", () => deps.spares.make(ref, plan));
  await crossing(deps, "fill_pool.complete", () => ledger.complete(held, { path: plan.path }));
  return plan.path;
}

/**
 * Takes back what a process that died has begun.
 *
 * @throws AoError when it could not be looked at or taken back now; it may be tried again then.
 */
export async function recoverFill(deps: SessionDeps, held: LeasedOperation): Promise<void> {
  if (held.progress === null) return takeBackLeft(deps, held, []);
  const { ref, plan } = progressOf(held);
  return takeBackLeft(deps, held, [discardWorkspace(deps, ref, plan)]);
}

function progressOf(held: LeasedOperation): FillProgress {
  const asked = { what: "progress", json: held.progress };
  return requireShape(held, asked, { ...REF_SHAPE, ...PLAN_SHAPE }) as unknown as FillProgress;
}
