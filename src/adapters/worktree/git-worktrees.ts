import { NO_IGNORED_RULE } from "../../domain/ignored-rule.ts";
import type { Locks } from "../../ports/locks.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { createWorktree, planWorktree } from "./create-worktree.ts";
import { discardWorktree } from "./discard-worktree.ts";
import { freeWorktree } from "./free-worktree.ts";
import { checkGit } from "./git-version.ts";
import { usersOfAll } from "./in-use.ts";
import { inspectWhole } from "./inspect-whole.ts";
import { markedWorktrees } from "./marked-worktrees.ts";
import { deleteMerged, mergedBranch } from "./merged-branch.ts";
import { MOUNT_TABLE } from "./mounts.ts";
import { type Context, locate } from "./place.ts";
import { planRestore, restoreWorktree } from "./restore-worktree.ts";
import { type GitOptions, gitRunner } from "./run-git.ts";
import { surveyPlace } from "./survey-place.ts";
import { sweepTrash } from "./sweep-trash.ts";
import { trashOf } from "./trash.ts";
import { undoCreate } from "./undo-create.ts";

export interface GitWorktreesOptions extends GitOptions {
  /** Folder of all worktrees; made when needed. Nothing outside it is ever written to or removed. */
  readonly managedRoot: string;
  /** Where removed worktrees go before they are deleted; best on the same file system. */
  readonly trashDir: string;
  readonly processes: Context["processes"];
  readonly locks: Pick<Locks, "withLock">;
  /** The user's word on ignored files; nothing said when not given. */
  readonly ignoredRule?: Context["ignoredRule"];
  /** For one checkout, its hooks and filters included, in milliseconds. */
  readonly addTimeoutMs?: number;
  /** Where the system lists what is mounted, in the form of Linux. */
  readonly mountTable?: string;
}

const ADD_TIMEOUT_MS = 600_000;

/** What the adapters of one managed root work with. */
export function contextOf(options: GitWorktreesOptions): Context {
  const { managedRoot, trashDir, processes, locks } = options;
  return {
    git: gitRunner(options),
    processes,
    locks,
    managedRoot,
    ignoredRule: options.ignoredRule ?? (async () => NO_IGNORED_RULE),
    trash: trashOf(trashDir, managedRoot, options.mountTable ?? MOUNT_TABLE),
    addTimeoutMs: options.addTimeoutMs ?? ADD_TIMEOUT_MS,
  };
}

/** The workspace port on git worktrees. Nothing is ever fetched. */
export function gitWorktrees(options: GitWorktreesOptions): Workspace {
  const context = contextOf(options);
  const { git } = context;
  return {
    check: () => checkGit(git),
    plan: (spec) => planWorktree(context, spec),
    create: (spec, plan) => createWorktree(context, spec, plan),
    discard: (ref, plan) => discardWorktree(context, ref, plan),
    planRestore: (spec) => planRestore(context, spec),
    restore: (spec, plan) => restoreWorktree(context, spec, plan),
    inspect: async (ref, seen) => inspectWhole(context, (await locate(context, ref)).place, seen),
    survey: async (ref, seen) => surveyPlace(context, (await locate(context, ref)).place, seen),
    users: () => usersOfAll(context),
    destroy: (ref, onBranch, isKept, fence) => freeWorktree(context, ref, { onBranch, isKept, fence }),
    undoCreate: (ref, created, isKept) => undoCreate(context, ref, { created, isKept }),
    mergedBranch: (ref, query) => mergedBranch(context, ref, query),
    deleteMerged: (ref, query, proven) => deleteMerged(context, ref, { query, proven }),
    marked: () => markedWorktrees(context),
    sweepTrash: () => sweepTrash(context.trash),
  };
}
