import { AoError } from "../../domain/errors.ts";
import type { ProjectId, SessionId } from "../../domain/ids.ts";
import type { OperationId } from "../../domain/operation.ts";
import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import type { LeftInTrash } from "../../ports/swept-trash.ts";
import type {
  CreatedWorkspace,
  MarkedWorkspace,
  WorkspacePlan,
  WorkspaceRef,
  WorkspaceSpec,
} from "../../ports/workspace.ts";

import type { KeptBranch } from "../../ports/workspace-facts.ts";

/** One workspace that is there. */
export interface Place {
  readonly sessionId: SessionId;
  readonly projectId: ProjectId;
  readonly repositoryPath: string;
  /** `null` for a detached HEAD. */
  readonly branch: string | null;
  readonly operationId: OperationId | null;
  /** Its making was broken off before it got its mark. */
  readonly halfMade: boolean;
}

interface Branch {
  readonly commit: string;
  /** `undefined` for one that no `create` made. */
  readonly madeBy: OperationId | null | undefined;
}

/** The world of the workspace twin. */
export interface WorkspaceState {
  readonly managedRoot: string;
  readonly places: Map<string, Place>;
  /** Those that somebody took from their place, by path. */
  readonly missing: Set<string>;
  /** What would be lost, by path. */
  readonly kept: Map<string, readonly WorkspaceFinding[]>;
  /** By repository. */
  readonly branches: Map<string, Map<string, Branch>>;
  /** Branches that the default branch has all commits of, as `<repository> <branch>`. */
  readonly merged: Set<string>;
  trash: number;
  /** What of it nobody can delete. */
  readonly leftInTrash: LeftInTrash[];
  /** How many workspaces were made so far, by path. */
  readonly made: Map<string, number>;
}

/** Where there is nothing yet. */
export function emptyState(managedRoot: string): WorkspaceState {
  return {
    ...{ managedRoot, places: new Map(), missing: new Set(), kept: new Map(), branches: new Map() },
    ...{ merged: new Set(), trash: 0, leftInTrash: [], made: new Map() },
  };
}

export const BASE_COMMIT = "0".repeat(40);
const CREATED_AT_MS = 1_700_000_000_000;

export function branchesOf(state: WorkspaceState, repositoryPath: string): Map<string, Branch> {
  const known = state.branches.get(repositoryPath) ?? new Map<string, Branch>();
  state.branches.set(repositoryPath, known);
  return known;
}

/** @throws AoError workspace_unsafe_path */
export function refuseOutside({ managedRoot }: WorkspaceState, ref: WorkspaceRef): void {
  const root = managedRoot.endsWith("/") ? managedRoot : `${managedRoot}/`;
  if (!ref.path.startsWith(root)) throw unsafe(ref, `it is outside ${managedRoot}`);
}

/** What stands where a restore is to use it. @throws AoError workspace_exists when it was to be made anew */
export function standingAsPlanned(
  state: WorkspaceState,
  spec: WorkspaceSpec,
  plan: WorkspacePlan | null,
): Place | undefined {
  const there = state.places.get(spec.path);
  if (there === undefined) return undefined;
  refuseStranger(there, spec);
  if (plan !== null) throw taken(spec.path);
  return there;
}

/** Makes what the plan says. @throws AoError when the branch is no more as planned. */
export function settle(
  state: WorkspaceState,
  spec: WorkspaceSpec,
  { plan, halfMade }: { readonly plan: WorkspacePlan; readonly halfMade: boolean },
): void {
  const { sessionId, projectId, repositoryPath } = spec;
  const { branch, operationId } = plan;
  const isDetached = plan.detached === true;
  if (!isDetached) settleBranch(branchesOf(state, repositoryPath), plan);
  state.missing.delete(plan.path);
  const checkedOut = { branch: isDetached ? null : branch, operationId, halfMade };
  state.places.set(plan.path, { sessionId, projectId, repositoryPath, ...checkedOut });
  state.made.set(plan.path, (state.made.get(plan.path) ?? 0) + 1);
}

function settleBranch(
  known: Map<string, Branch>,
  { branch, branchExists, baseCommit, operationId }: WorkspacePlan,
): void {
  const exists = known.has(branch);
  if (exists && !branchExists) throw justMade(branch);
  if (!exists && branchExists) throw branchGone(branch);
  if (!exists) known.set(branch, { commit: baseCommit, madeBy: operationId });
}

/** Removes the branch that this operation made, while it is where it began and nobody has it. */
export function takeBranchBack(state: WorkspaceState, repositoryPath: string, plan: WorkspacePlan): void {
  const known = branchesOf(state, repositoryPath);
  const found = known.get(plan.branch);
  const isOurs = found?.madeBy === plan.operationId && found?.commit === plan.baseCommit;
  const isUsed = [...state.places.values()].some(
    (there) => there.repositoryPath === repositoryPath && there.branch === plan.branch,
  );
  if (!plan.branchExists && isOurs && !isUsed) known.delete(plan.branch);
}

/** What of a workspace's branches stays after its undo; a branch that has moved has one commit more. */
export function branchesKept(
  state: WorkspaceState,
  repositoryPath: string,
  { made, last }: { readonly made: CreatedWorkspace; readonly last: string | null },
): readonly KeptBranch[] {
  const known = branchesOf(state, repositoryPath);
  const hasMoved = (branch: string) => known.has(branch) && known.get(branch)?.commit !== made.baseCommit;
  const kept = [...new Set([made.branch, last ?? made.branch])].filter(hasMoved);
  if (made.branchCreated && !hasMoved(made.branch)) known.delete(made.branch);
  return kept.map((branch) => ({ branch, commits: 1 }));
}

/** @throws AoError workspace_unsafe_path */
export function findings(state: WorkspaceState, ref: WorkspaceRef): readonly WorkspaceFinding[] {
  const there = state.places.get(ref.path);
  if (there === undefined) return state.missing.has(ref.path) ? [missingAt(ref.path)] : [];
  refuseStranger(there, ref);
  return state.kept.get(ref.path) ?? [];
}

function missingAt(path: string): WorkspaceFinding {
  return { kind: "missing", detail: "its folder is not there", items: [path], count: 1 };
}

/** @throws AoError workspace_dirty, workspace_unsafe_path */
export function refuseWork(state: WorkspaceState, ref: WorkspaceRef): void {
  const found = findings(state, ref);
  if (found.length > 0) throw dirty(ref, found);
}

/** @throws AoError workspace_dirty, workspace_unsafe_path */
export function free(state: WorkspaceState, ref: WorkspaceRef): void {
  refuseWork(state, ref);
  state.places.delete(ref.path);
}

/** @throws AoError workspace_unsafe_path */
export function refuseStranger(there: Place, ref: WorkspaceRef): void {
  const isSame = there.sessionId === ref.sessionId && there.repositoryPath === ref.repositoryPath;
  if (!isSame || there.halfMade) throw unsafe(ref, `it is not the one of ${ref.sessionId}`);
}

/** @throws AoError workspace_unsafe_path when it is another session's or operation's. */
export function refuseOther(there: Place, ref: WorkspaceRef, { operationId }: WorkspacePlan): void {
  if (there.sessionId === ref.sessionId && there.operationId === operationId) return;
  throw unsafe(ref, `operation ${operationId} of ${ref.sessionId} did not make it`);
}

/** What a plan comes to once it is carried out. */
export function created(plan: WorkspacePlan): CreatedWorkspace {
  const { path, branch, branchExists, baseRef, baseCommit, warnings } = plan;
  return { path, branch, branchCreated: !branchExists, baseRef, baseCommit, warnings };
}

/** What a restore finds where a workspace stands. */
export function asItStands(
  state: WorkspaceState,
  { place, spec }: { readonly place: Place; readonly spec: WorkspaceSpec },
): CreatedWorkspace {
  const { path } = spec;
  const branch = place.branch ?? spec.branch;
  const baseCommit = branchesOf(state, spec.repositoryPath).get(branch)?.commit ?? BASE_COMMIT;
  return { path, branch, branchCreated: false, baseRef: branch, baseCommit, warnings: [] };
}

/** How a place is listed by its mark. */
export function markedAt(path: string, place: Place): MarkedWorkspace {
  const { projectId, sessionId, repositoryPath, operationId, halfMade } = place;
  return {
    ref: { projectId, sessionId, repositoryPath, path },
    operationId,
    createdAtMs: halfMade ? null : CREATED_AT_MS,
    flaw: halfMade ? "its making was broken off" : null,
  };
}

function justMade(branch: string): AoError {
  return new AoError("branch_in_use", `branch ${branch} was made by another process just now`, {
    details: { branch, path: null },
  });
}

/** The refusal of a branch that is not there. */
export function branchGone(branch: string): AoError {
  return new AoError("branch_missing", `branch ${branch} is gone`, { details: { branch } });
}

/** The refusal to touch what is not a session's own. */
export function unsafe({ path }: WorkspaceRef, why: string): AoError {
  return new AoError("workspace_unsafe_path", `${path} is not touched: ${why}`, { details: { path } });
}

/** The refusal of a path where something is. */
export function taken(path: string): AoError {
  return new AoError("workspace_exists", `something is at ${path} already`, { details: { path } });
}

function dirty({ path }: WorkspaceRef, found: readonly WorkspaceFinding[]): AoError {
  return new AoError("workspace_dirty", `workspace ${path} holds work: ${found[0]?.detail}`, {
    details: { path, findings: found },
  });
}
