import { AoError } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceSpec } from "../../ports/workspace.ts";
import { resolveBase } from "./base-commit.ts";
import { type BranchPlan, findBranch } from "./branch-plan.ts";
import { findLocalBranch } from "./branch-refs.ts";
import { workspaceExists } from "./claim-folder.ts";
import { forgetStale, refuseHeld } from "./create-worktree.ts";
import { commitOrNone, lineOrNone } from "./git-answer.ts";
import { makeWorktree } from "./make-worktree.ts";
import { openedFor, planOf } from "./opened-repository.ts";
import { type Context, type Gone, locate, type Unreadable } from "./place.ts";
import { openRepository, type Repository } from "./repository.ts";
import { type Git, inDirectory } from "./run-git.ts";
import { unsafePath } from "./safe-path.ts";
import { putBack } from "./trash.ts";
import { findRecord } from "./worktree-records.ts";

/** `Workspace.restore`: as it stands, else back from an interrupted removal, else from its branch. */
export async function restoreWorktree(
  context: Context,
  spec: WorkspaceSpec,
  plan: WorkspacePlan | null,
): Promise<CreatedWorkspace> {
  const { repository, place } = await locate(context, spec, openedFor(plan));
  if (place.kind === "unreadable") throw damaged(place);
  if (place.kind === "gone") {
    if (plan === null) throw unsafePath(place.path, "it stood when the restore was planned, and is gone");
    return fromPlan(context, await anewAt(context, spec, { repository, path: place.path }), plan);
  }
  if (plan !== null) throw workspaceExists(place.path);
  spec.fence?.();
  if (place.kind === "held") await putBack(place.tree, place.path);
  return asItStands(context.git, place.path, spec);
}

/** `Workspace.planRestore`: what `restoreWorktree` would make. */
export async function planRestore(context: Context, spec: WorkspaceSpec): Promise<WorkspacePlan | null> {
  const { repository, place } = await locate(context, spec);
  if (place.kind === "unreadable") throw damaged(place);
  if (place.kind !== "gone") return null;
  const anew = await anewAt(context, spec, { repository, path: place.path });
  const warnings = await missingRecord(context, anew, place);
  const { operationId } = spec;
  const plan = await planFromBranch(context.git, anew);
  const told = { ...plan, warnings: [...warnings, ...plan.warnings] };
  return planOf(anew.repository, { operationId, path: anew.path, ...told });
}

/** What is to be said of a folder that somebody took away while git knows it. @throws AoError workspace_exists */
async function missingRecord(
  context: Context,
  { repository, path }: Anew,
  { going }: Gone,
): Promise<readonly string[]> {
  const record = await findRecord(repository.commonDir, path);
  if (record === undefined) return [];
  await refuseHeld(context, { repository, path, record });
  if (going !== undefined) return [];
  return [`${path} was moved or deleted by somebody; git's record of it is dropped, and it is made anew`];
}

async function anewAt(
  { git }: Context,
  spec: WorkspaceSpec,
  { repository, path }: { readonly repository: Repository | undefined; readonly path: string },
): Promise<Anew> {
  return { path, spec, repository: repository ?? (await openRepository(git, spec.repositoryPath)) };
}

/** Whatever is checked out there by now; only when that is no branch, the recorded one is named. */
async function asItStands(git: Git, path: string, spec: WorkspaceSpec): Promise<CreatedWorkspace> {
  const where = inDirectory(path);
  const [head, commit] = await Promise.all([
    git.read(where, ["symbolic-ref", "--quiet", "HEAD"]),
    git.read(where, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
  ]);
  const ref = lineOrNone(head, `tell the branch of ${path}`);
  const branch = ref === undefined ? spec.branch : ref.replace(/^refs\/heads\//, "");
  const baseCommit = commitOrNone(commit, `tell the commit of ${path}`) ?? "";
  return { path, branch, branchCreated: false, baseRef: branch, baseCommit, warnings: [] };
}

interface Anew {
  readonly repository: Repository;
  readonly path: string;
  readonly spec: WorkspaceSpec;
}

async function fromPlan(context: Context, anew: Anew, plan: WorkspacePlan): Promise<CreatedWorkspace> {
  if (plan.path !== anew.path) throw unsafePath(anew.path, `the plan was for ${plan.path}`);
  anew.spec.fence?.();
  await forgetStale(context, { ...anew, sessionId: anew.spec.sessionId });
  return makeWorktree(context, { ...anew, plan });
}

async function planFromBranch(git: Git, { repository, path, spec }: Anew): Promise<BranchPlan> {
  const { branch } = spec;
  return (
    (await keptBranchAgain(git, repository, spec)) ??
    (await findBranch(git, repository, { branch, path })) ??
    (await deletedBranchAgain(git, repository, spec)) ??
    (await onNoBranch(git, repository, spec)) ??
    missingBranch(repository, spec)
  );
}

/** Work that was kept can only be put back where it was. */
async function keptBranchAgain(
  git: Git,
  repository: Repository,
  { keptHead }: WorkspaceSpec,
): Promise<BranchPlan | undefined> {
  if (keptHead?.kind !== "branch" || keptHead.commit === null) return undefined;
  const { branch, commit } = keptHead;
  const isThere = (await findLocalBranch(git, repository, branch)) !== undefined;
  if (isThere || !(await hasCommit(git, repository, commit))) return undefined;
  const warning = `branch ${branch} was gone, and is made again at ${commit}, where the kept work stood on it`;
  return { branch, branchExists: false, baseRef: commit, baseCommit: commit, warnings: [warning] };
}

async function deletedBranchAgain(
  git: Git,
  repository: Repository,
  { branch, branchCommit: commit }: WorkspaceSpec,
): Promise<BranchPlan | undefined> {
  if (commit === undefined || !(await hasCommit(git, repository, commit))) return undefined;
  return { branch, branchExists: false, baseRef: commit, baseCommit: commit, warnings: [] };
}

/** Where kept work stood on no branch, or on one without a commit, any commit will do to begin with. */
async function onNoBranch(
  git: Git,
  repository: Repository,
  spec: WorkspaceSpec,
): Promise<BranchPlan | undefined> {
  const { branch, keptHead } = spec;
  if (keptHead === undefined) return undefined;
  const baseCommit = keptHead.commit ?? (await resolveBase(git, repository, spec)).commit;
  if (!(await hasCommit(git, repository, baseCommit))) return undefined;
  const warning = `branch ${branch} is gone; the worktree is made where the kept work stood instead`;
  const detached = { branchExists: true, detached: true, baseRef: baseCommit, baseCommit };
  return { branch, ...detached, warnings: [warning] };
}

function missingBranch({ path: repositoryPath }: Repository, { branch, path }: WorkspaceSpec): never {
  throw new AoError("branch_missing", `branch ${branch} is gone, and so is the worktree`, {
    hint: `git -C ${shellQuoted(repositoryPath)} branch ${shellQuoted(branch)} <commit>`,
    details: { branch, path },
  });
}

async function hasCommit(git: Git, { path }: Repository, commit: string): Promise<boolean> {
  const ask = ["rev-parse", "--verify", "--quiet", `${commit}^{commit}`];
  return commitOrNone(await git.read(inDirectory(path), ask), `look for ${commit}`) !== undefined;
}

function damaged({ path, tree, cause }: Unreadable): AoError {
  return new AoError("git_failed", `the worktree ${path} cannot be used: ${cause}`, {
    hint:
      tree === path
        ? `git worktree repair ${shellQuoted(path)}`
        : `look at what is there and move it away: ls -la ${shellQuoted(tree)}`,
    details: { path },
  });
}
