import { AoError } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { WorkspaceSpec } from "../../ports/workspace.ts";
import { listRefs } from "./branch-refs.ts";
import { type DefaultBranch, findDefaultBranch, startsOf } from "./default-branch.ts";
import { commitOrNone, saysYes } from "./git-answer.ts";
import { outputOf } from "./git-failure.ts";
import type { Repository } from "./repository.ts";
import { type Git, inDirectory } from "./run-git.ts";

/** Where a new branch starts. */
export interface Base {
  readonly ref: string;
  readonly commit: string;
}

type Wanted = Pick<WorkspaceSpec, "baseRef" | "defaultBranch">;

/**
 * The start of a new branch: the ref asked for, else the default branch. Of the default branch
 * `origin/<name>` is taken, unless it is strictly behind the local one. Nothing is fetched.
 *
 * @throws AoError branch_missing when what was asked for is no commit.
 * @throws AoError repository_empty when there is no commit at all.
 */
export async function resolveBase(git: Git, repository: Repository, wanted: Wanted): Promise<Base> {
  if (wanted.baseRef !== null) return resolveAsked(git, repository, wanted.baseRef);
  const asked = wanted.defaultBranch;
  const branch = asked === null ? await findDefaultBranch(git, repository) : { name: asked };
  const base = branch === null ? undefined : await resolveDefault(git, repository, branch);
  if (base !== undefined) return base;
  if (wanted.defaultBranch === null) {
    const commit = await resolveCommit(git, repository, "HEAD");
    if (commit !== undefined) return { ref: "HEAD", commit };
  }
  throw await noBase(git, repository, branch?.name ?? null);
}

async function resolveAsked(git: Git, repository: Repository, ref: string): Promise<Base> {
  const commit = await resolveCommit(git, repository, ref);
  if (commit !== undefined) return { ref, commit };
  await refuseEmpty(git, repository);
  throw new AoError("branch_missing", `base ${JSON.stringify(ref)} is no commit of ${repository.path}`, {
    hint: `git -C ${shellQuoted(repository.path)} branch --all`,
    details: { baseRef: ref },
  });
}

async function resolveDefault(
  git: Git,
  repository: Repository,
  { name, refs }: DefaultBranch,
): Promise<Base | undefined> {
  if (name.includes("\0")) return undefined;
  const names = startsOf(name);
  const found = refs ?? (await listRefs(git, repository, names));
  const [remote, local] = names.map((ref) => found.find((one) => one.ref === ref)?.commit);
  const here = local === undefined ? undefined : { ref: name, commit: local };
  if (remote === undefined) return here;
  const there = { ref: `origin/${name}`, commit: remote };
  if (here === undefined || remote === local) return there;
  const ask = ["merge-base", "--is-ancestor", remote, here.commit];
  const result = await git.read(inDirectory(repository.path), ask);
  return saysYes(result, `compare ${there.ref} with ${here.ref}`) ? here : there;
}

/**
 * git dies instead of answering no, for what leads on from a ref that is there (revision.c and refs.c, 2.39.5):
 * `main@{u}` without an upstream, `HEAD@{100}` of a younger log.
 */
const LEADS_NOWHERE =
  /^$|^fatal: (no such branch|no upstream|upstream branch|branch '|push |log for |HEAD does not)/;

/** What begins with `-` or `^` is no ref git would make: it would be read as an option, or as all but that. */
async function resolveCommit(git: Git, repository: Repository, ref: string): Promise<string | undefined> {
  if (/^([-^]|$)/.test(ref) || ref.includes("\0")) return undefined;
  const ask = ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`];
  const result = await git.read(inDirectory(repository.path), ask);
  const leadsNowhere = result.exitCode === 128 && LEADS_NOWHERE.test(result.stderr);
  const isRange = result.exitCode === 1 && result.stdout !== "";
  if (leadsNowhere || isRange) return undefined;
  return commitOrNone(result, `find ${JSON.stringify(ref)}`);
}

async function noBase(git: Git, repository: Repository, name: string | null): Promise<AoError> {
  await refuseEmpty(git, repository);
  return new AoError("branch_missing", `default branch ${name ?? "HEAD"} is not in ${repository.path}`, {
    hint: "name a start with --base, or set defaultBranch in the configuration",
    details: { defaultBranch: name },
  });
}

async function refuseEmpty(git: Git, repository: Repository): Promise<void> {
  const result = await git.read(inDirectory(repository.path), ["for-each-ref", "--count=1"]);
  if (outputOf(result, "list refs") !== "") return;
  if ((await resolveCommit(git, repository, "HEAD")) !== undefined) return;
  throw new AoError("repository_empty", `repository ${repository.path} has no commit yet`, {
    hint: `git -C ${shellQuoted(repository.path)} commit --allow-empty -m "first commit"`,
    details: { path: repository.path },
  });
}
