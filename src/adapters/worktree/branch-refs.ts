import { AoError } from "../../domain/errors.ts";
import type { OperationId } from "../../domain/operation.ts";
import { invalidBranch } from "./branch-name.ts";
import { isCommit, lineOrNone, strangeAnswer } from "./git-answer.ts";
import { type GitResult, gitFailed, outputOf } from "./git-failure.ts";
import { retryLocked } from "./git-retry.ts";
import type { Repository } from "./repository.ts";
import { type Git, type GitLocation, inDirectory } from "./run-git.ts";

const LIST = "list branches";

/** A ref as git lists it. */
export interface FoundRef {
  readonly ref: string;
  readonly commit: string;
  /** Folder of the worktree that has it checked out. */
  readonly checkedOutAt: string | null;
  /** The ref that it is pulled from; `null` when there is none. */
  readonly upstream: string | null;
}

/** A branch to be made. */
export interface NewBranch {
  readonly branch: string;
  readonly baseRef: string;
  readonly baseCommit: string;
  /** Is written into the branch's log, and proves later who made it. */
  readonly operationId: OperationId | null;
}

function noteOf({ baseRef, operationId }: NewBranch): string {
  const by = operationId === null ? "" : ` by ao operation ${operationId}`;
  return `branch: Created from ${baseRef}${by}`;
}

/** The local branch of exactly this name. */
export async function findLocalBranch(
  git: Git,
  repository: Repository,
  branch: string,
): Promise<FoundRef | undefined> {
  const name = `refs/heads/${branch}`;
  return (await listRefs(git, repository, [name])).find(({ ref }) => ref === name);
}

/**
 * The refs that match the patterns, those below them included (git-for-each-ref(1)). The branch that a bare
 * repository's HEAD names is checked out nowhere, though git 2.39.5 says so.
 *
 * @throws AoError git_failed when one that was asked for by its name is there and cannot be read.
 */
export async function listRefs(
  git: Git,
  repository: Repository,
  patterns: readonly string[],
): Promise<readonly FoundRef[]> {
  const format = "--format=%(refname)%00%(objectname)%00%(worktreepath)%00%(upstream)%00";
  const result = await git.read(inDirectory(repository.path), ["for-each-ref", format, "--", ...patterns]);
  refuseBroken(result, patterns);
  const fields = outputOf(result, LIST).split("\0");
  const isWhole = fields.length % 4 === 1 && fields.at(-1)?.trim() === "";
  if (!isWhole) throw strangeAnswer(LIST, result.stdout);
  const refs = Array.from({ length: (fields.length - 1) / 4 }, (_ref, at) =>
    parseRef(repository, fields.slice(4 * at, 4 * at + 4)),
  );
  return refs.map((ref) => {
    if (ref === undefined) throw strangeAnswer(LIST, result.stdout);
    return ref;
  });
}

function parseRef({ bare, path }: Repository, fields: readonly string[]): FoundRef | undefined {
  const [name = "", commit = "", folder = "", upstream = ""] = fields;
  const ref = name.replace(/^\n/, "");
  if (!ref.startsWith("refs/") || !isCommit(commit)) return undefined;
  const isNowhere = folder === "" || (bare && folder === path);
  return { ref, commit, checkedOutAt: isNowhere ? null : folder, upstream: upstream || null };
}

/** git passes over a ref it cannot read, as after a loss of power, and only says so beside its answer. */
function refuseBroken({ stderr }: GitResult, wanted: readonly string[]): void {
  const broken = [...stderr.matchAll(/^warning: ignoring broken ref (.+)$/gm)].map(([, ref]) => ref);
  const ours = broken.find((ref) => ref !== undefined && wanted.includes(ref));
  if (ours !== undefined) throw gitFailed(`read ${ours}`, stderr);
}

/**
 * The branch that is checked out; `undefined` for a detached HEAD, and for a branch without a commit.
 *
 * @throws AoError git_failed when git could not tell.
 */
export async function checkedOutBranch(git: Git, where: GitLocation): Promise<string | undefined> {
  // Without a commit there is nothing to come back to: `--verify` refuses it (git 2.39.5).
  const ask = ["rev-parse", "--verify", "--quiet", "--symbolic-full-name", "HEAD"];
  const ref = lineOrNone(await git.read(where, ask), "tell the branch that is checked out");
  return /^refs\/heads\/(.+)$/.exec(ref ?? "")?.[1];
}

/**
 * Makes the branch, and only makes it: it fails when another process was first. It goes past the
 * configuration file, so that many at once do not wait for its lock; no upstream is set.
 *
 * @throws AoError branch_invalid when another branch is in the way of the name.
 */
export async function makeBranch(git: Git, repository: Repository, wanted: NewBranch): Promise<void> {
  const { branch, baseCommit } = wanted;
  const ref = `refs/heads/${branch}`;
  const args = ["update-ref", "--create-reflog", "-m", noteOf(wanted), ref, baseCommit, ""];
  const result = await retryLocked(`make branch ${branch}`, () =>
    git.write(inDirectory(repository.path), args),
  );
  if (result.exitCode !== 0) throw explain(branch, result.stderr);
}

/**
 * Removes a branch while it still points at `commit` and no worktree has it checked out; otherwise leaves
 * it. Idempotent.
 *
 * @throws AoError git_failed when git could not remove it.
 */
export async function removeBranch(
  git: Git,
  repository: Repository,
  branch: string,
  commit: string,
): Promise<void> {
  const found = await findLocalBranch(git, repository, branch);
  if (found === undefined || found.commit !== commit || found.checkedOutAt !== null) return;
  const args = ["update-ref", "-d", found.ref, commit];
  const result = await retryLocked(`remove branch ${branch}`, () =>
    git.write(inDirectory(repository.path), args),
  );
  if (result.exitCode !== 0) throw gitFailed(`remove branch ${branch}`, result.stderr);
}

/** `removeBranch`, but only of the branch that this very operation made: its log says so from the first. */
export async function removeOwnBranch(git: Git, repository: Repository, made: NewBranch): Promise<void> {
  const { branch, baseCommit } = made;
  if ((await findLocalBranch(git, repository, branch)) === undefined) return;
  const ask = ["reflog", "show", "--format=%gs", `refs/heads/${branch}`, "--"];
  const log = outputOf(await git.read(inDirectory(repository.path), ask), "read the log of a branch");
  const oldest = log.trimEnd().split("\n").at(-1);
  if (oldest === noteOf(made)) await removeBranch(git, repository, branch, baseCommit);
}

function explain(branch: string, stderr: string): Error {
  const inTheWay = /'refs\/heads\/([^']+)' exists; cannot create/.exec(stderr)?.[1];
  if (inTheWay !== undefined) {
    const why = `branch ${inTheWay} exists, and git cannot have both`;
    return invalidBranch(branch, why, `choose a name that does not share the path of ${inTheWay}`);
  }
  if (stderr.includes("reference already exists")) {
    const message = `branch ${branch} was made by another process just now`;
    return new AoError("branch_in_use", message, { hint: "try again", details: { branch, path: null } });
  }
  if (stderr.includes("File name too long")) return invalidBranch(branch, "the name is too long");
  return gitFailed(`make branch ${branch}`, stderr);
}
