import type { ConfigLookup } from "../adapters/config/find-config-file.ts";
import type { FileLocksOptions } from "../adapters/locks/file-locks.ts";
import type { GitWorktreesOptions } from "../adapters/worktree/git-worktrees.ts";
import type { GitSnapshotsOptions } from "../adapters/worktree/salvage/git-snapshots.ts";
import type { SessionDeps } from "../lifecycle/deps.ts";
import type { SessionStore } from "../ports/session-store.ts";

/** Where a configuration would be found, before it is known which one was recorded. */
export type Lookup = Omit<ConfigLookup, "recordedPath">;

/** Git is loaded by the first call that needs it: a list needs none. */
export function lazyGit(
  options: Omit<GitSnapshotsOptions, "addTimeoutMs" | "locks"> & { readonly lockOptions: FileLocksOptions },
): Pick<SessionDeps, "workspace" | "snapshots" | "repositories"> {
  const worktrees = async () => {
    const [{ gitWorktrees }, { fileLocks }] = await Promise.all([
      import("../adapters/worktree/git-worktrees.ts"),
      import("../adapters/locks/file-locks.ts"),
    ]);
    return gitWorktrees({ ...options, locks: fileLocks(options.lockOptions) });
  };
  const snapshots = async () => {
    const [{ gitSnapshots }, { fileLocks }] = await Promise.all([
      import("../adapters/worktree/salvage/git-snapshots.ts"),
      import("../adapters/locks/file-locks.ts"),
    ]);
    return gitSnapshots({ ...options, locks: fileLocks(options.lockOptions) });
  };
  const repositories = async () => {
    const { gitRepositories } = await import("../adapters/worktree/git-repositories.ts");
    return gitRepositories(options);
  };
  return {
    workspace: {
      check: async () => (await worktrees()).check(),
      plan: async (spec) => (await worktrees()).plan(spec),
      create: async (spec, plan) => (await worktrees()).create(spec, plan),
      discard: async (ref, plan) => (await worktrees()).discard(ref, plan),
      planRestore: async (spec) => (await worktrees()).planRestore(spec),
      restore: async (spec, plan) => (await worktrees()).restore(spec, plan),
      inspect: async (ref, seen) => (await worktrees()).inspect(ref, seen),
      survey: async (ref, seen) => (await worktrees()).survey(ref, seen),
      users: async () => (await worktrees()).users(),
      destroy: async (ref, onBranch, isKept, fence) =>
        (await worktrees()).destroy(ref, onBranch, isKept, fence),
      undoCreate: async (ref, created, isKept) => (await worktrees()).undoCreate(ref, created, isKept),
      mergedBranch: async (ref, query) => (await worktrees()).mergedBranch(ref, query),
      deleteMerged: async (ref, query, proven) => (await worktrees()).deleteMerged(ref, query, proven),
      marked: async () => (await worktrees()).marked(),
      sweepTrash: async () => (await worktrees()).sweepTrash(),
    },
    snapshots: {
      salvage: async (request) => (await snapshots()).salvage(request),
      obstacles: async (ref) => (await snapshots()).obstacles(ref),
      holds: async (request) => (await snapshots()).holds(request),
      putBack: async (request) => (await snapshots()).putBack(request),
      list: async (path, id) => (await snapshots()).list(path, id),
      show: async (path, ref) => (await snapshots()).show(path, ref),
      drop: async (path, ref) => (await snapshots()).drop(path, ref),
      take: async (ref, turnId, edge, options) => (await snapshots()).take(ref, turnId, edge, options),
      forget: async (ref, turnId, edge) => (await snapshots()).forget(ref, turnId, edge),
      checkpoints: async (path, id) => (await snapshots()).checkpoints(path, id),
      adopt: async (path, ref, as) => (await snapshots()).adopt(path, ref, as),
      changes: async (path, request) => (await snapshots()).changes(path, request),
      rewind: async (request) => (await snapshots()).rewind(request),
    },
    repositories: { find: async (directory) => (await repositories()).find(directory) },
  };
}

/** Worktrees made ahead; what is wanted is read without git, by far the most often asked of them. */
export function lazySpares(
  options: GitWorktreesOptions & { readonly lookup: Lookup },
  repositories: () => SessionDeps["repositories"],
): SessionDeps["spares"] {
  const repositoryOf = async (folder: string) => (await repositories().find(folder))?.path;
  const spares = async () => {
    const { gitSpares } = await import("../adapters/worktree/pool/git-spares.ts");
    return gitSpares(options);
  };
  return {
    async wanted(project) {
      const { poolSettingsOf } = await import("../adapters/config/pool-settings.ts");
      return poolSettingsOf({ lookup: options.lookup, repositoryOf }, project);
    },
    base: async (path, branch) => (await spares()).base(path, branch),
    plan: async (ref, base, operationId) => (await spares()).plan(ref, base, operationId),
    make: async (ref, plan) => (await spares()).make(ref, plan),
    flaw: async (ref, base) => (await spares()).flaw(ref, base),
  };
}

/** A lock is loaded by the first call that takes one. */
export function lazyLocks(options: FileLocksOptions): SessionDeps["locks"] {
  return {
    async withLock(name, work, wait) {
      const { fileLocks } = await import("../adapters/locks/file-locks.ts");
      return fileLocks(options).withLock(name, work, wait);
    },
    async sweep() {
      const { fileLocks } = await import("../adapters/locks/file-locks.ts");
      return fileLocks(options).sweep();
    },
  };
}

/** A person's word on ignored files, read when there are any to judge. */
export function lazyRules(
  lookup: Lookup,
  store: SessionStore,
  repositories: () => SessionDeps["repositories"],
): NonNullable<GitWorktreesOptions["ignoredRule"]> {
  const repositoryOf = async (folder: string) => (await repositories().find(folder))?.path;
  return async (owner) => {
    const { ignoredRuleOf } = await import("../adapters/config/ignored-rules.ts");
    return ignoredRuleOf({ lookup, store, repositoryOf }, owner);
  };
}
