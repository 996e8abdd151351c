import type { CreatedWorkspace, IsKept, WorkspaceRef } from "../../ports/workspace.ts";
import type { KeptBranch } from "../../ports/workspace-facts.ts";
import { findLocalBranch, removeBranch } from "./branch-refs.ts";
import { freeWorktree } from "./free-worktree.ts";
import type { Context } from "./place.ts";
import { type Repository, readRepository } from "./repository.ts";
import { type Git, inDirectory } from "./run-git.ts";

/** As `Workspace.undoCreate` says. Idempotent; the branch that was checked out is known the first time only. */
export async function undoCreate(
  context: Context,
  ref: WorkspaceRef,
  { created, isKept }: { readonly created: CreatedWorkspace; readonly isKept: IsKept | undefined },
): Promise<readonly KeptBranch[]> {
  const { git } = context;
  const { branch, branchCreated, baseCommit } = created;
  const branches = new Set([branch]);
  const onBranch = (last: string) => void branches.add(last);
  await freeWorktree(context, ref, { onBranch, isKept, deletes: true });
  const repository = await readRepository(git, ref.repositoryPath);
  // Its branches are gone with it.
  if (repository === undefined) return [];
  if (branchCreated) await removeBranch(git, repository, branch, baseCommit);
  const kept = await Promise.all([...branches].map((one) => moved(git, repository, { one, baseCommit })));
  return kept.filter((one) => one !== undefined);
}

/** The branch when it does not point where the worktree began; `undefined` when it does, or is gone. */
async function moved(
  git: Git,
  repository: Repository,
  { one, baseCommit }: { readonly one: string; readonly baseCommit: string },
): Promise<KeptBranch | undefined> {
  const found = await findLocalBranch(git, repository, one);
  if (found === undefined || found.commit === baseCommit) return undefined;
  const ask = ["rev-list", "--count", found.commit, `^${baseCommit}`, "--"];
  const { exitCode, stdout } = await git.read(inDirectory(repository.path), ask);
  const isCount = exitCode === 0 && /^\d+\n$/.test(stdout);
  return { branch: one, commits: isCount ? Number(stdout) : null };
}
