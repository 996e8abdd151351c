import { isKeepable } from "../../domain/salvage.ts";
import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import type { ToolCheck } from "../../ports/tool-check.ts";
import type { IsKept, Workspace, WorkspacePlan, WorkspaceRef, WorkspaceSpec } from "../../ports/workspace.ts";
import { deleteProven, provenMerged } from "./merged-branches.ts";
import {
  asItStands,
  BASE_COMMIT,
  branchesKept,
  branchesOf,
  created,
  emptyState,
  findings,
  free,
  markedAt,
  planFromBranch,
  planNew,
  refuseOther,
  refuseOutside,
  refuseStranger,
  refuseWork,
  settle,
  standingAsPlanned,
  takeBranchBack,
  unsafe,
  type WorkspaceState,
} from "./workspace-state.ts";

type Method = Exclude<keyof Workspace, "check">;

/** The workspace port without git, with the levers a test pulls. */
export interface MemoryWorkspace extends Workspace {
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
  /** How many workspaces were made at `path` so far. */
  made(path: string): number;
  /** Takes the workspace at `path` away as a person with `mv` or `rm -rf` would. */
  vanish(path: string): void;
  /** Switches the workspace at `path` to another branch, made when there is none; `null` detaches it. */
  switchTo(path: string, branch: string | null): void;
  /** Leaves the files of one more removed workspace to be deleted. */
  leaveTrash(): void;
  addBranch(repositoryPath: string, branch: string): void;
  /** Puts a commit on a branch. */
  moveBranch(repositoryPath: string, branch: string): void;
  removeBranch(repositoryPath: string, branch: string): void;
  /** The default branch has all commits of this one from now on. */
  mergeBranch(repositoryPath: string, branch: string): void;
  /** Branches of one repository, sorted. */
  branches(repositoryPath: string): readonly string[];
}

export interface MemoryWorkspaceOptions {
  /** Where the calls are written down; a log of its own when absent. */
  readonly log?: string[];
  /** Paths elsewhere are refused; `/` when absent. */
  readonly managedRoot?: string;
}

const UNTRACKED: WorkspaceFinding = {
  kind: "untracked",
  detail: "1 untracked file",
  items: ["notes.txt"],
  count: 1,
};

const LATER_COMMIT = "1".repeat(40);

const TOOL: ToolCheck = { kind: "ok", version: "2.39.5", path: "/usr/bin/git" };

interface World {
  readonly log: string[];
  tool: ToolCheck;
  readonly state: WorkspaceState;
  readonly failures: Map<Method, Error[]>;
}

/** An in-memory twin of the git worktree adapter; passes the same contract. */
export function memoryWorkspace(options: MemoryWorkspaceOptions = {}): MemoryWorkspace {
  const state = emptyState(options.managedRoot ?? "/");
  const world: World = { log: options.log ?? [], tool: TOOL, state, failures: new Map() };
  return { ...levers(world), ...looks(world), ...changes(world) };
}

function levers(world: World): Omit<MemoryWorkspace, keyof Workspace> {
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
    addBranch: (repositoryPath, branch) => setBranch(repositoryPath, branch, BASE_COMMIT),
    moveBranch: (repositoryPath, branch) => setBranch(repositoryPath, branch, LATER_COMMIT),
    removeBranch: (repositoryPath, branch) => void branchesOf(state, repositoryPath).delete(branch),
    mergeBranch: (repositoryPath, branch) => void state.merged.add(`${repositoryPath} ${branch}`),
    branches: (repositoryPath) => [...branchesOf(state, repositoryPath).keys()].sort(),
  };
}

type Looks = "check" | "plan" | "planRestore" | "inspect" | "survey" | "mergedBranch" | "users" | "marked";

function looks(world: World): Pick<Workspace, Looks> {
  const { state } = world;
  return {
    check: async () => world.tool,

    async plan(spec) {
      failAt(world, "plan");
      refuseOutside(state, spec);
      return planNew(state, spec);
    },

    async planRestore(spec) {
      failAt(world, "planRestore");
      refuseOutside(state, spec);
      const there = state.places.get(spec.path);
      if (there === undefined) return planFromBranch(state, spec);
      refuseStranger(there, spec);
      return null;
    },

    async inspect(ref) {
      enter(world, "inspect", ref);
      return findings(state, ref);
    },

    async survey(ref) {
      enter(world, "survey", ref);
      const found = findings(state, ref);
      const ignoredWork = found.flatMap(({ kind, items }) => (kind === "ignored" ? items : []));
      const branch = state.places.get(ref.path)?.branch ?? null;
      return { findings: found, ignoredWork, branch, commits: [], stashes: [] };
    },

    async mergedBranch(ref, query) {
      failAt(world, "mergedBranch");
      return provenMerged(state, ref, query);
    },

    async users() {
      failAt(world, "users");
      return [];
    },

    async marked() {
      failAt(world, "marked");
      return [...state.places].sort().map(([path, place]) => markedAt(path, place));
    },
  };
}

function changes(world: World): Omit<Workspace, Looks> {
  const { state } = world;
  return {
    async create(spec, plan) {
      enter(world, "create", spec);
      planNew(state, spec);
      settle(state, spec, { plan, halfMade: false });
      return created(plan);
    },

    async discard(ref, plan) {
      enter(world, "discard", ref);
      const there = state.places.get(ref.path);
      if (there !== undefined) refuseOther(there, ref, plan);
      if (there?.halfMade === false) refuseWork(state, ref);
      state.places.delete(ref.path);
      takeBranchBack(state, ref.repositoryPath, plan);
    },

    async restore(spec, plan) {
      enter(world, "restore", spec);
      const place = standingAsPlanned(state, spec, plan);
      if (place !== undefined) return asItStands(state, { place, spec });
      if (plan === null) throw unsafe(spec, "it stood when the restore was planned, and is gone");
      settle(state, spec, { plan, halfMade: false });
      return created(plan);
    },

    async destroy(ref, onBranch, isKept, fence) {
      enter(world, "destroy", ref);
      await refuseUnkept(state, ref, isKept);
      fence?.();
      const branch = state.places.get(ref.path)?.branch ?? null;
      if (branch !== null) onBranch?.(branch);
      free(state, ref);
    },

    async undoCreate(ref, made, isKept) {
      enter(world, "undoCreate", ref);
      await refuseUnkept(state, ref, isKept);
      const last = state.places.get(ref.path)?.branch ?? null;
      free(state, ref);
      return branchesKept(state, ref.repositoryPath, { made, last });
    },

    async deleteMerged(ref, query, proven) {
      enter(world, "deleteMerged", ref);
      return deleteProven(state, ref, { query, proven });
    },

    async sweepTrash() {
      failAt(world, "sweepTrash");
      const swept = state.trash;
      state.trash = 0;
      return swept;
    },
  };
}

/** What is kept elsewhere is nothing to lose any more. @throws AoError workspace_dirty, workspace_unsafe_path */
async function refuseUnkept(state: WorkspaceState, ref: WorkspaceRef, isKept?: IsKept): Promise<void> {
  const found = findings(state, ref);
  if (found.length > 0 && isKeepable(found) && (await isKept?.()) === true) state.kept.delete(ref.path);
  refuseWork(state, ref);
}

function failAt({ failures }: World, method: Method): void {
  const failure = failures.get(method)?.shift();
  if (failure !== undefined) throw failure;
}

function enter(world: World, method: Method, ref: WorkspaceRef): void {
  world.log.push(`workspace.${method} ${ref.sessionId}`);
  failAt(world, method);
  refuseOutside(world.state, ref);
}
