import { AoError, isAoError } from "../../domain/errors.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { Salvage } from "../../domain/salvage.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceSpec } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { launchEnvironment } from "../launch-agent.ts";
import { crossing } from "../operations/crossing.ts";
import { fenceOf } from "../operations/fence-of.ts";
import { operationLedger } from "../operations/ledger.ts";
import { type AskedEnvironment, askedEnvironment } from "./asked-environment.ts";
import { forkDraft } from "./fork-launch.ts";
import { type ForkProgress, forkInput, forkProgressJson } from "./fork-progress.ts";

/** Progress of a fork whose worktree stands. */
export type WithWorkspace = ForkProgress & { readonly created: CreatedWorkspace };

interface SpecOptions extends Pick<WorkspaceSpec, "operationId"> {
  readonly branch: string | null;
  readonly asked: AskedEnvironment;
}

/** What `Workspace.plan` is asked for a fork. */
export function forkSpec(
  deps: SessionDeps,
  progress: ForkProgress,
  { branch, operationId, asked }: SpecOptions,
): WorkspaceSpec {
  const { ref, frozen } = progress;
  const { seed, checkpoint, settings } = frozen;
  const project = deps.store.project(seed.projectId);
  return {
    ...ref,
    branch: branch ?? `session/${seed.id}`,
    branchIsMadeUp: branch === null,
    baseRef: checkpoint.head ?? seed.metadata.baseCommit,
    defaultBranch: project?.defaultBranch ?? null,
    postCreate: settings.postCreate,
    env: launchEnvironment({ ...deps, callerEnv: asked.callerEnv }, forkDraft(deps, progress, asked)),
    operationId,
  };
}

/**
 * Where the worktree of a fork goes. Changes nothing.
 *
 * @throws AoError branch_in_use also when a branch of that name stands somewhere else than the fork begins.
 * @throws AoError as `Workspace.plan`
 */
export async function planForkWorkspace(deps: SessionDeps, spec: WorkspaceSpec): Promise<WorkspacePlan> {
  const plan = await deps.workspace.plan(spec);
  const isElsewhere = plan.branchExists && spec.baseRef !== null && plan.baseCommit !== spec.baseRef;
  if (!isElsewhere) return plan;
  throw new AoError("branch_in_use", `branch ${plan.branch} is there, and not where the fork begins`, {
    hint: "name a new branch with --branch, or none",
    details: { branch: plan.branch, commit: plan.baseCommit, wanted: spec.baseRef },
  });
}

/**
 * Makes the worktree of a fork: on its branch at the checkpoint's HEAD, with the checkpoint's files. What a dead
 * process has left of one is taken away first. May be repeated.
 *
 * @throws AoError as `Workspace.create` and `Snapshots.rewind`
 */
export async function makeForkWorkspace(
  deps: SessionDeps,
  held: LeasedOperation,
  progress: ForkProgress,
): Promise<WithWorkspace> {
  const made = await madeWorkspace(deps, held, progress);
  await crossing(deps, "fork.files", () => putFiles(deps, held, made));
  return made;
}

async function madeWorkspace(
  deps: SessionDeps,
  held: LeasedOperation,
  progress: ForkProgress,
): Promise<WithWorkspace> {
  const { created, plan: left, ref } = progress;
  if (created !== null) return { ...progress, created };
  if (left !== null) {
    fenceOf(deps, held)();
    await crossing(deps, "fork.discard", () => deps.workspace.discard(ref, left));
  }
  await crossing(deps, "fork.checkpoint", () => pinCheckpoint(deps, progress));
  const ledger = operationLedger(deps);
  const { branch } = forkInput(held);
  const asked = await askedEnvironment(deps, progress);
  const fence = fenceOf(deps, held);
  const spec = { ...forkSpec(deps, progress, { branch, operationId: held.id, asked }), fence };
  const plan = await planForkWorkspace(deps, spec);
  const before = await deps.snapshots.list(ref.repositoryPath, ref.sessionId);
  const keptBefore = progress.keptBefore ?? before.map((salvage) => salvage.ref);
  const planned = { ...progress, plan, keptBefore };
  await crossing(deps, "fork.planned", () => ledger.checkpoint(held, forkProgressJson(planned)));
  const done = await crossing(deps, "fork.workspace.create", () => deps.workspace.create(spec, plan));
  const made = { ...planned, created: done };
  await crossing(deps, "fork.created", () => ledger.checkpoint(held, forkProgressJson(made)));
  return made;
}

/** Under a ref of the fork's own, whatever becomes of its parent. */
async function pinCheckpoint({ snapshots }: SessionDeps, { frozen, ref }: ForkProgress): Promise<void> {
  const { checkpoint, seed, turnId } = frozen;
  const as = { sessionId: seed.id, turnId };
  await snapshots.adopt(ref.repositoryPath, checkpoint.ref, as);
}

/** What the project's own steps put in the way is kept while it is written over, and no longer. */
async function putFiles(deps: SessionDeps, held: LeasedOperation, made: WithWorkspace): Promise<void> {
  const { ref, created, frozen } = made;
  const { snapshots } = deps;
  const fence = fenceOf(deps, held);
  const workspace = { ...ref, path: created.path };
  const rewind = (salvageRef: string | null) =>
    snapshots.rewind({ workspace, checkpointRef: frozen.checkpoint.ref, salvageRef, fence });
  try {
    await rewind(null);
  } catch (error) {
    if (!isAoError(error, "salvage_conflict")) throw error;
    const outcome = await snapshots.salvage({ workspace, reason: "rewind", atMs: deps.clock.nowMs(), fence });
    await rewind(outcome.kind === "kept" ? outcome.ref : null);
  }
  fence();
  await dropOwnSalvages(deps, made);
}

/**
 * Nobody has worked in it yet: what the making of it kept is given up. Another data directory may have a session of
 * the same name in the repository: a salvage is the fork's own when it was not there before, and was made on the
 * branch that no other worktree has.
 */
export async function dropOwnSalvages(
  { snapshots }: Pick<SessionDeps, "snapshots">,
  { ref: { repositoryPath, sessionId }, keptBefore, created }: WithWorkspace,
): Promise<void> {
  const isOwn = ({ ref, reason, head }: Salvage) =>
    keptBefore?.includes(ref) === false &&
    reason === "rewind" &&
    head.kind === "branch" &&
    head.branch === created.branch;
  const own = (await snapshots.list(repositoryPath, sessionId)).filter(isOwn);
  for (const { ref } of own) await snapshots.drop(repositoryPath, ref);
}
