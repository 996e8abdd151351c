import type { SpareBase, Spares } from "../../../ports/spares.ts";
import type { WorkspaceRef } from "../../../ports/workspace.ts";
import { resolveBase } from "../base-commit.ts";
import { contextOf, type GitWorktreesOptions } from "../git-worktrees.ts";
import { type Context, locate } from "../place.ts";
import { openRepository } from "../repository.ts";
import { lockReason } from "../worktree-records.ts";
import { makeSpare, planSpare } from "./make-spare.ts";
import { spareState } from "./spare-state.ts";

/** The part of the port for worktrees made ahead that is git's. */
export function gitSpares(options: GitWorktreesOptions): Omit<Spares, "wanted"> {
  const context = contextOf(options);
  const { git } = context;
  return {
    async base(repositoryPath, defaultBranch) {
      const repository = await openRepository(git, repositoryPath);
      const { ref, commit } = await resolveBase(git, repository, { baseRef: null, defaultBranch });
      return { baseRef: ref, baseCommit: commit };
    },
    plan: (ref, base, operationId) => planSpare(context, ref, { ...base, operationId }),
    make: (ref, plan) => makeSpare(context, ref, plan),
    flaw: (ref, base) => flawOf(context, ref, base),
  };
}

async function flawOf(
  context: Context,
  ref: WorkspaceRef,
  { baseCommit }: SpareBase,
): Promise<string | null> {
  const { place } = await locate(context, ref);
  if (place.kind !== "standing") return "it is gone or on its way out";
  const { record, marker } = place.owned;
  if (marker.spare === undefined) return "it is no worktree made ahead";
  if (marker.spare.baseCommit !== baseCommit) return "its base has moved";
  if ((await lockReason(record)) !== undefined) return "it is locked";
  const state = await spareState(context.git, place.path);
  return state === marker.spare.state ? null : "something in it was changed";
}
