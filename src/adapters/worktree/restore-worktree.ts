import { rename } from "node:fs/promises";
import { AoError } from "../../domain/errors.ts";
import type { CreatedWorkspace, WorkspaceSpec } from "../../ports/workspace.ts";
import { findBranch } from "./branch-plan.ts";
import { forgetStale } from "./create-worktree.ts";
import { makeWorktree } from "./make-worktree.ts";
import { type Context, locate } from "./place.ts";
import { openRepository, type Repository } from "./repository.ts";
import { type Git, inDirectory } from "./run-git.ts";

/** `Workspace.restore`: as it stands, else back from an interrupted removal, else from its branch. */
export async function restoreWorktree(context: Context, spec: WorkspaceSpec): Promise<CreatedWorkspace> {
  const { repository, place } = await locate(context, spec);
  switch (place.kind) {
    case "standing":
      return asItStands(context.git, place.path, spec);
    case "held":
      await rename(place.tree, place.path);
      return asItStands(context.git, place.path, spec);
    case "unreadable":
      throw damaged(spec, place.cause);
    case "gone": {
      const known = repository ?? (await openRepository(context.git, spec.repositoryPath));
      return fromBranch(context, { repository: known, path: place.path, spec });
    }
  }
}

/** Whatever is checked out there by now; only when that is no branch, the recorded one is named. */
async function asItStands(git: Git, path: string, spec: WorkspaceSpec): Promise<CreatedWorkspace> {
  const where = inDirectory(path);
  const [head, commit] = await Promise.all([
    git.read(where, ["symbolic-ref", "--quiet", "HEAD"]),
    git.read(where, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
  ]);
  const current = head.stdout.trim().replace(/^refs\/heads\//, "");
  const branch = current === "" ? spec.branch : current;
  const baseCommit = commit.stdout.trim();
  return { path, branch, branchCreated: false, baseRef: branch, baseCommit, warnings: [] };
}

interface Anew {
  readonly repository: Repository;
  readonly path: string;
  readonly spec: WorkspaceSpec;
}

async function fromBranch(context: Context, anew: Anew): Promise<CreatedWorkspace> {
  const { repository, path, spec } = anew;
  await forgetStale(context, { repository, path, sessionId: spec.sessionId });
  const plan = await findBranch(context.git, repository, spec.branch);
  if (plan !== undefined) return makeWorktree(context, { ...anew, plan });
  throw new AoError("branch_missing", `branch ${spec.branch} is gone, and so is the worktree`, {
    hint: `git -C '${repository.path}' branch '${spec.branch}' <commit>`,
    details: { branch: spec.branch, path },
  });
}

function damaged({ path }: WorkspaceSpec, cause: string): AoError {
  return new AoError("git_failed", `the worktree ${path} cannot be used: ${cause}`, {
    hint: `git worktree repair '${path}'`,
    details: { path },
  });
}
