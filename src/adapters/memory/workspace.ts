import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { WorkspaceFinding } from "../../domain/workspace-finding.ts";
import type { CreatedWorkspace, Workspace, WorkspaceRef, WorkspaceSpec } from "../../ports/workspace.ts";

type Method = "create" | "restore" | "inspect" | "destroy" | "undoCreate";

/** The workspace port without git, with the levers a test pulls. */
export interface MemoryWorkspace extends Workspace {
  /** One entry a call, in order: `workspace.<method> <session>`. Shared when the caller passed one. */
  readonly log: string[];
  /** Gives the workspace at `path` something to lose: inspect reports it and destroy refuses. */
  refuse(path: string, findings?: readonly WorkspaceFinding[]): void;
  /** Takes `refuse` back. */
  allow(path: string): void;
  /** The next call of `method` is logged, changes nothing and throws `error`. */
  failNext(method: Method, error: Error): void;
  /** Whether a workspace is at `path`. */
  exists(path: string): boolean;
  /** Removes the workspace at `path` as a person with `rm -rf` would. */
  vanish(path: string): void;
  addBranch(repositoryPath: string, branch: string): void;
  removeBranch(repositoryPath: string, branch: string): void;
  /** Branches of one repository, sorted. */
  branches(repositoryPath: string): readonly string[];
}

export interface MemoryWorkspaceOptions {
  /** Where the calls are written down; a log of its own when absent. */
  readonly log?: string[];
  /** Paths elsewhere are refused; `/` when absent. */
  readonly managedRoot?: string;
}

interface Place {
  readonly sessionId: SessionId;
  readonly repositoryPath: string;
  readonly branch: string;
}

const UNTRACKED: WorkspaceFinding = {
  kind: "untracked",
  detail: "1 untracked file",
  items: ["notes.txt"],
  count: 1,
};

const BASE_COMMIT = "0".repeat(40);

interface World {
  readonly log: string[];
  readonly managedRoot: string;
  readonly places: Map<string, Place>;
  readonly kept: Map<string, readonly WorkspaceFinding[]>;
  readonly branches: Map<string, Set<string>>;
  readonly failures: Map<Method, Error[]>;
}

/** An in-memory twin of the git worktree adapter; passes the same contract. */
export function memoryWorkspace(options: MemoryWorkspaceOptions = {}): MemoryWorkspace {
  const world: World = {
    log: options.log ?? [],
    managedRoot: options.managedRoot ?? "/",
    places: new Map(),
    kept: new Map(),
    branches: new Map(),
    failures: new Map(),
  };
  return { ...levers(world), ...port(world) };
}

function levers(world: World): Omit<MemoryWorkspace, keyof Workspace> {
  const { log, places, kept, failures } = world;
  return {
    log,
    refuse: (path, found = [UNTRACKED]) => void kept.set(path, found),
    allow: (path) => void kept.delete(path),
    failNext: (method, error) => void failures.set(method, [...(failures.get(method) ?? []), error]),
    exists: (path) => places.has(path),
    vanish: (path) => void places.delete(path),
    addBranch: (repositoryPath, branch) => void branchesOf(world, repositoryPath).add(branch),
    removeBranch: (repositoryPath, branch) => void branchesOf(world, repositoryPath).delete(branch),
    branches: (repositoryPath) => [...branchesOf(world, repositoryPath)].sort(),
  };
}

function port(world: World): Workspace {
  return {
    check: async () => ({ kind: "ok", version: "2.39.5", path: "/usr/bin/git" }),

    async create(spec) {
      enter(world, "create", spec);
      refuseBadBranch(spec.branch);
      if (world.places.has(spec.path)) throw taken(spec.path);
      settle(world, spec);
      const known = branchesOf(world, spec.repositoryPath);
      const branchCreated = !known.has(spec.branch);
      known.add(spec.branch);
      return created(spec, branchCreated);
    },

    async restore(spec) {
      enter(world, "restore", spec);
      const there = world.places.get(spec.path);
      if (there !== undefined) {
        refuseStranger(there, spec);
        return created({ ...spec, branch: there.branch }, false);
      }
      if (!branchesOf(world, spec.repositoryPath).has(spec.branch)) throw branchGone(spec);
      settle(world, spec);
      return created(spec, false);
    },

    async inspect(ref) {
      enter(world, "inspect", ref);
      return findings(world, ref);
    },

    async destroy(ref) {
      enter(world, "destroy", ref);
      free(world, ref);
    },

    async undoCreate(ref, made) {
      enter(world, "undoCreate", ref);
      free(world, ref);
      if (made.branchCreated) branchesOf(world, ref.repositoryPath).delete(made.branch);
    },
  };
}

function branchesOf(world: World, repositoryPath: string): Set<string> {
  const known = world.branches.get(repositoryPath) ?? new Set<string>();
  world.branches.set(repositoryPath, known);
  return known;
}

function enter(world: World, method: Method, ref: WorkspaceRef): void {
  world.log.push(`workspace.${method} ${ref.sessionId}`);
  const failure = world.failures.get(method)?.shift();
  if (failure !== undefined) throw failure;
  const root = world.managedRoot.endsWith("/") ? world.managedRoot : `${world.managedRoot}/`;
  if (!ref.path.startsWith(root)) throw unsafe(ref, `it is outside ${world.managedRoot}`);
}

function settle(world: World, spec: WorkspaceSpec): void {
  refuseTakenBranch(world.places, spec);
  const { sessionId, repositoryPath, branch } = spec;
  world.places.set(spec.path, { sessionId, repositoryPath, branch });
}

function findings(world: World, ref: WorkspaceRef): readonly WorkspaceFinding[] {
  const there = world.places.get(ref.path);
  if (there === undefined) return [];
  refuseStranger(there, ref);
  return world.kept.get(ref.path) ?? [];
}

function free(world: World, ref: WorkspaceRef): void {
  const found = findings(world, ref);
  if (found.length > 0) throw dirty(ref, found);
  world.places.delete(ref.path);
}

function created(spec: WorkspaceSpec, branchCreated: boolean): CreatedWorkspace {
  const baseRef = branchCreated ? (spec.baseRef ?? spec.defaultBranch ?? "main") : spec.branch;
  return {
    path: spec.path,
    branch: spec.branch,
    branchCreated,
    baseRef,
    baseCommit: BASE_COMMIT,
    warnings: [],
  };
}

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

function refuseStranger(there: Place, ref: WorkspaceRef): void {
  if (there.sessionId === ref.sessionId && there.repositoryPath === ref.repositoryPath) return;
  throw unsafe(ref, `it is not the one of ${ref.sessionId}`);
}

function unsafe({ path }: WorkspaceRef, why: string): AoError {
  return new AoError("workspace_unsafe_path", `${path} is not touched: ${why}`, { details: { path } });
}

function taken(path: string): AoError {
  return new AoError("workspace_exists", `something is at ${path} already`, { details: { path } });
}

function branchGone(spec: WorkspaceSpec): AoError {
  return new AoError("branch_missing", `branch ${spec.branch} is gone`, { details: { branch: spec.branch } });
}

function dirty(ref: WorkspaceRef, findings: readonly WorkspaceFinding[]): AoError {
  return new AoError("workspace_dirty", `workspace ${ref.path} holds work: ${findings[0]?.detail}`, {
    details: { path: ref.path, findings },
  });
}
