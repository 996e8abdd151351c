import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import type { LeftInTrash } from "../../ports/swept-trash.ts";
import type { ToolCheck } from "../../ports/tool-check.ts";
import type { Workspace, WorkspacePlan, WorkspaceSpec } from "../../ports/workspace.ts";
import { BASE_COMMIT, branchesOf, settle, type WorkspaceState } from "./workspace-state.ts";

/** What can be made to fail. */
export type Method = Exclude<keyof Workspace, "check">;

/** What a test does to workspaces from outside the port. */
export interface WorkspaceLevers {
  /** One entry a call, in order: `workspace.<method> <session>`; plans and `marked` are not worth one. */
  readonly log: string[];
  /** Gives the workspace at `path` something to lose: inspect reports it and destroy refuses. */
  refuse(path: string, findings?: readonly WorkspaceFinding[]): void;
  /** What `check` says from now on. */
  setTool(check: ToolCheck): void;
  /** Takes `refuse` back. */
  allow(path: string): void;
  /** The next call of `method` is logged, changes nothing and throws `error`. */
  failNext(method: Method, error: Error): void;
  /** Leaves what a `create` that was killed in the middle leaves: branch and folder, without its mark. */
  breakOff(spec: WorkspaceSpec, plan: WorkspacePlan): void;
  /** Whether a workspace is at `path`. */
  exists(path: string): boolean;
  /** The branch of the workspace at `path`; `null` for none. */
  branchAt(path: string): string | null;
  /** How many workspaces were made at `path` so far. */
  made(path: string): number;
  /** Takes the workspace at `path` away as a person with `mv` or `rm -rf` would. */
  vanish(path: string): void;
  /** Switches the workspace at `path` to another branch, made when there is none; `null` detaches it. */
  switchTo(path: string, branch: string | null): void;
  /** Leaves the files of one more removed workspace to be deleted. */
  leaveTrash(): void;
  /** From now on something in the trash cannot be deleted, or any of it can again. */
  resistInTrash(left: readonly LeftInTrash[]): void;
  addBranch(repositoryPath: string, branch: string): void;
  /** Puts a commit on a branch. */
  moveBranch(repositoryPath: string, branch: string): void;
  removeBranch(repositoryPath: string, branch: string): void;
  /** The default branch has all commits of this one from now on. */
  mergeBranch(repositoryPath: string, branch: string): void;
  /** Branches of one repository, sorted. */
  branches(repositoryPath: string): readonly string[];
}

/** The world of one twin. */
export interface World {
  readonly log: string[];
  tool: ToolCheck;
  readonly state: WorkspaceState;
  readonly failures: Map<Method, Error[]>;
}

const UNTRACKED: WorkspaceFinding = {
  kind: "untracked",
  detail: "1 untracked file",
  items: ["notes.txt"],
  count: 1,
};

const LATER_COMMIT = "1".repeat(40);

/** The levers of a world. */
export function levers(world: World): WorkspaceLevers {
  const { log, state, failures } = world;
  const setBranch = (repositoryPath: string, branch: string, commit: string) => {
    const known = branchesOf(state, repositoryPath);
    known.set(branch, { commit, madeBy: known.get(branch)?.madeBy });
  };
  return {
    log,
    refuse: (path, found = [UNTRACKED]) => void state.kept.set(path, found),
    setTool(check) {
      world.tool = check;
    },
    allow: (path) => void state.kept.delete(path),
    failNext: (method, error) => void failures.set(method, [...(failures.get(method) ?? []), error]),
    breakOff: (spec, plan) => settle(state, spec, { plan, halfMade: true }),
    exists: (path) => state.places.has(path),
    branchAt: (path) => state.places.get(path)?.branch ?? null,
    made: (path) => state.made.get(path) ?? 0,
    vanish(path) {
      if (state.places.delete(path)) state.missing.add(path);
    },
    switchTo(path, branch) {
      const place = state.places.get(path);
      if (place === undefined) return;
      const known = branchesOf(state, place.repositoryPath);
      if (branch !== null && !known.has(branch))
        known.set(branch, { commit: BASE_COMMIT, madeBy: undefined });
      state.places.set(path, { ...place, branch });
    },
    leaveTrash() {
      state.trash += 1;
    },
    resistInTrash: (left) => void state.leftInTrash.splice(0, Infinity, ...left),
    addBranch: (repositoryPath, branch) => setBranch(repositoryPath, branch, BASE_COMMIT),
    moveBranch: (repositoryPath, branch) => setBranch(repositoryPath, branch, LATER_COMMIT),
    removeBranch: (repositoryPath, branch) => void branchesOf(state, repositoryPath).delete(branch),
    mergeBranch: (repositoryPath, branch) => void state.merged.add(`${repositoryPath} ${branch}`),
    branches: (repositoryPath) => [...branchesOf(state, repositoryPath).keys()].sort(),
  };
}
