import { AoError } from "../../domain/errors.ts";
import type { WorkspacePlan, WorkspaceSpec } from "../../ports/workspace.ts";
import {
  BASE_COMMIT,
  branchesOf,
  branchGone,
  type Place,
  taken,
  type WorkspaceState,
} from "./workspace-state.ts";

/** @throws AoError as `Workspace.plan` */
export function planNew(state: WorkspaceState, wanted: WorkspaceSpec): WorkspacePlan {
  refuseBadBranch(wanted.branch);
  const spec = wanted.branchIsMadeUp === true ? { ...wanted, branch: freeBranch(state, wanted) } : wanted;
  const { path, branch, operationId, repositoryPath } = spec;
  if (state.places.has(path)) throw taken(path);
  refuseTakenBranch(state.places, spec);
  const found = branchesOf(state, repositoryPath).get(branch);
  const baseRef = found === undefined ? (spec.baseRef ?? spec.defaultBranch ?? "main") : branch;
  const baseCommit = found?.commit ?? BASE_COMMIT;
  return { operationId, path, branch, branchExists: found !== undefined, baseRef, baseCommit, warnings: [] };
}

function freeBranch(state: WorkspaceState, { branch, repositoryPath }: WorkspaceSpec): string {
  const known = branchesOf(state, repositoryPath);
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? branch : `${branch}-${number}`;
    if (!known.has(name)) return name;
  }
}

/** @throws AoError branch_missing, branch_in_use */
export function planFromBranch(state: WorkspaceState, spec: WorkspaceSpec): WorkspacePlan {
  const known = branchesOf(state, spec.repositoryPath);
  const missing = state.missing.has(spec.path) ? [`${spec.path} was moved or deleted by somebody`] : [];
  const { branch, keptHead, branchCommit } = spec;
  if (keptHead?.kind === "branch" && keptHead.commit !== null && !known.has(keptHead.branch)) {
    const again = { ...planNew(state, { ...spec, branch: keptHead.branch }), ...standingAt(keptHead.commit) };
    return { ...again, warnings: [...missing, `branch ${keptHead.branch} was gone, and is made again`] };
  }
  if (known.has(branch)) return { ...planNew(state, spec), warnings: missing };
  if (branchCommit !== undefined)
    return { ...planNew(state, spec), ...standingAt(branchCommit), warnings: missing };
  if (keptHead === undefined) throw branchGone(branch);
  const detached = { branchExists: true, detached: true, ...standingAt(keptHead.commit ?? BASE_COMMIT) };
  return { ...planNew(state, spec), ...detached, warnings: [...missing, `branch ${branch} is gone`] };
}

const standingAt = (commit: string) => ({ baseRef: commit, baseCommit: commit });

function refuseBadBranch(branch: string): void {
  if (!/^-|\.\.|[\s~^:?*[\\]|@\{|\.lock$|^$/.test(branch)) return;
  throw new AoError("branch_invalid", `branch name ${JSON.stringify(branch)} is not valid`);
}

function refuseTakenBranch(places: ReadonlyMap<string, Place>, spec: WorkspaceSpec): void {
  for (const [path, there] of places) {
    if (there.repositoryPath !== spec.repositoryPath || there.branch !== spec.branch) continue;
    throw new AoError("branch_in_use", `branch ${spec.branch} is checked out at ${path}`, {
      details: { path, branch: spec.branch },
    });
  }
}
