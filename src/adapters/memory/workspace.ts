import { isKeepable } from "../../domain/salvage.ts";
import type { ToolCheck } from "../../ports/tool-check.ts";
import type { IsKept, Workspace, WorkspaceRef } from "../../ports/workspace.ts";
import { deleteProven, provenMerged } from "./merged-branches.ts";
import { levers, type Method, type WorkspaceLevers, type World } from "./workspace-levers.ts";
import { planFromBranch, planNew } from "./workspace-plans.ts";
import {
  asItStands,
  branchesKept,
  created,
  emptyState,
  findings,
  free,
  markedAt,
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

/** The workspace port without git, with the levers a test pulls. */
export interface MemoryWorkspace extends Workspace, WorkspaceLevers {}

export interface MemoryWorkspaceOptions {
  /** Where the calls are written down; a log of its own when absent. */
  readonly log?: string[];
  /** Paths elsewhere are refused; `/` when absent. */
  readonly managedRoot?: string;
}

const TOOL: ToolCheck = { kind: "ok", version: "2.39.5", path: "/usr/bin/git" };

/** An in-memory twin of the git worktree adapter; passes the same contract. */
export function memoryWorkspace(options: MemoryWorkspaceOptions = {}): MemoryWorkspace {
  const state = emptyState(options.managedRoot ?? "/");
  const world: World = { log: options.log ?? [], tool: TOOL, state, failures: new Map() };
  return { ...levers(world), ...looks(world), ...changes(world) };
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
      spec.fence?.();
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
      spec.fence?.();
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
      const deleted = state.trash;
      state.trash = 0;
      return { deleted, left: [...state.leftInTrash] };
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
