import { lstat } from "node:fs/promises";
import { AoError } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { WorkspacePlan, WorkspaceSpec } from "../../ports/workspace.ts";
import { resolveBase } from "./base-commit.ts";
import { checkBranchName, refuseUnusable } from "./branch-name.ts";
import { type FoundRef, listRefs } from "./branch-refs.ts";
import type { Repository } from "./repository.ts";
import type { Git } from "./run-git.ts";

/** What has to happen so that the branch of a worktree exists. */
export type BranchPlan = Pick<
  WorkspacePlan,
  "branch" | "branchExists" | "baseRef" | "baseCommit" | "detached" | "warnings"
>;

const LOCAL = "refs/heads/";
const REMOTE = "refs/remotes/";

export interface WantedBranch {
  readonly branch: string;
  /** Where its worktree is to be. What git remembers at this path is of a folder that is gone. */
  readonly path: string;
}

/**
 * Decides where the branch comes from: the one here, else the one of the only remote that has it (`origin`
 * before others), else `undefined`.
 *
 * @throws AoError branch_invalid when git refuses the name or several remotes have it.
 * @throws AoError branch_in_use when a worktree has it checked out.
 */
export async function findBranch(
  git: Git,
  repository: Repository,
  { branch, path }: WantedBranch,
): Promise<BranchPlan | undefined> {
  refuseUnusable(branch);
  const [, refs] = await Promise.all([
    checkBranchName(git, branch),
    listRefs(git, repository, everywhere(branch)),
  ]);
  const local = refs.find(({ ref }) => ref === `${LOCAL}${branch}`);
  if (local !== undefined) {
    const holder = local.checkedOutAt;
    if (holder !== null && holder !== path) throw await branchInUse(repository, branch, holder);
    return { branch, branchExists: true, baseRef: branch, baseCommit: local.commit, warnings: [] };
  }
  const remote = onlyRemote(branch, refs);
  if (remote === undefined) return undefined;
  const baseRef = remote.ref.slice(REMOTE.length);
  return { branch, branchExists: false, baseRef, baseCommit: remote.commit, warnings: [] };
}

/** As patterns: the branch of this name, here and on every remote. */
const everywhere = (branch: string): readonly string[] => [`${LOCAL}${branch}`, `${REMOTE}*/${branch}`];

/**
 * `findBranch`, and a new branch from its base when there is none.
 *
 * @throws AoError as `findBranch` and `resolveBase`.
 */
export async function planBranch(git: Git, repository: Repository, spec: WorkspaceSpec): Promise<BranchPlan> {
  if (spec.branchIsMadeUp === true) {
    return newBranch(git, repository, { ...spec, branch: await freeName(git, repository, spec.branch) });
  }
  const found = await findBranch(git, repository, spec);
  if (found === undefined) return newBranch(git, repository, spec);
  if (spec.baseRef === null) return found;
  const warning = `branch ${spec.branch} exists and is used as it is; base ${spec.baseRef} has no effect`;
  return { ...found, warnings: [warning] };
}

async function newBranch(git: Git, repository: Repository, spec: WorkspaceSpec): Promise<BranchPlan> {
  const { branch } = spec;
  const { ref, commit } = await resolveBase(git, repository, spec);
  return { branch, branchExists: false, baseRef: ref, baseCommit: commit, warnings: [] };
}

/** The first of `<branch>`, `<branch>-2`, `<branch>-3` that is no branch and no folder of branches anywhere. */
async function freeName(git: Git, repository: Repository, branch: string): Promise<string> {
  refuseUnusable(branch);
  const patterns = [...everywhere(branch), ...everywhere(`${branch}-*`), ...everywhere(`${branch}-*/**`)];
  const [, refs] = await Promise.all([checkBranchName(git, branch), listRefs(git, repository, patterns)]);
  const taken = refs.map(({ ref }) => (ref.startsWith(LOCAL) ? ref.slice(LOCAL.length) : remoteBranch(ref)));
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? branch : `${branch}-${number}`;
    if (!taken.some((other) => other === name || other.startsWith(`${name}/`))) return name;
  }
}

/** A pattern also matches what lies below it (git-for-each-ref(1)), so the names are compared whole. */
function onlyRemote(branch: string, found: readonly FoundRef[]): FoundRef | undefined {
  const having = found.filter(({ ref }) => ref.startsWith(REMOTE) && remoteBranch(ref) === branch);
  const origin = having.find(({ ref }) => ref === `${REMOTE}origin/${branch}`);
  if (origin !== undefined || having.length < 2) return origin ?? having[0];
  const names = having.map(({ ref }) => ref.slice(REMOTE.length));
  const [first = ""] = names;
  throw new AoError("branch_invalid", `branch ${branch} is on several remotes: ${names.join(", ")}`, {
    hint: `git branch ${shellQuoted(branch)} ${shellQuoted(first)}`,
    details: { branch, candidates: names },
  });
}

function remoteBranch(ref: string): string {
  const name = ref.slice(REMOTE.length);
  return name.slice(name.indexOf("/") + 1);
}

/** The refusal of a branch that another worktree has, with the way out. */
export async function branchInUse(repository: Repository, branch: string, path: string): Promise<AoError> {
  const there = await lstat(path).then(
    () => true,
    () => false,
  );
  const hint = there
    ? "choose another name with --branch"
    : `that folder is gone: git -C ${shellQuoted(repository.path)} worktree prune`;
  return new AoError("branch_in_use", `branch ${branch} is checked out at ${path}`, {
    hint,
    details: { path, branch },
  });
}
