import { AoError } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceSpec } from "../../ports/workspace.ts";
import { findBranch } from "./branch-plan.ts";
import { workspaceExists } from "./claim-folder.ts";
import { forgetStale, refuseHeld } from "./create-worktree.ts";
import { commitOrNone, lineOrNone } from "./git-answer.ts";
import { makeWorktree } from "./make-worktree.ts";
import { openedFor, planOf } from "./opened-repository.ts";
import { type Context, locate, type Unreadable } from "./place.ts";
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
  if (place.kind === "held") await putBack(place.tree, place.path);
  return asItStands(context.git, place.path, spec);
}

/** `Workspace.planRestore`: what `restoreWorktree` would make. */
export async function planRestore(context: Context, spec: WorkspaceSpec): Promise<WorkspacePlan | null> {
  const { repository, place } = await locate(context, spec);
  if (place.kind === "unreadable") throw damaged(place);
  if (place.kind !== "gone") return null;
  return planFromBranch(context, await anewAt(context, spec, { repository, path: place.path }));
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
  await forgetStale(context, { ...anew, sessionId: anew.spec.sessionId });
  return makeWorktree(context, { ...anew, plan });
}

async function planFromBranch(context: Context, { repository, path, spec }: Anew): Promise<WorkspacePlan> {
  const { branch, operationId } = spec;
  const record = await findRecord(repository.commonDir, path);
  if (record !== undefined) await refuseHeld(context, { repository, path, record });
  const plan = await findBranch(context.git, repository, { branch, path });
  if (plan !== undefined) return planOf(repository, { operationId, path, ...plan });
  const { branchCommit: baseCommit } = spec;
  if (baseCommit !== undefined && (await hasCommit(context.git, repository, baseCommit))) {
    const anew = { branch, branchExists: false, baseRef: baseCommit, baseCommit, warnings: [] };
    return planOf(repository, { operationId, path, ...anew });
  }
  throw new AoError("branch_missing", `branch ${branch} is gone, and so is the worktree`, {
    hint: `git -C ${shellQuoted(repository.path)} branch ${shellQuoted(branch)} <commit>`,
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
