import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { MergedBranch } from "../../domain/cleanup-plan.ts";
import type { WorkspaceRef } from "../../ports/workspace.ts";
import type { BranchQuery } from "../../ports/workspace-facts.ts";
import { logOf } from "./branch-log.ts";
import { type FoundRef, listRefs } from "./branch-refs.ts";
import { findDefaultBranch } from "./default-branch.ts";
import { onlyLine, saysYes } from "./git-answer.ts";
import { gitFailed } from "./git-failure.ts";
import { retryLocked } from "./git-retry.ts";
import type { Context } from "./place.ts";
import { type Repository, readRepository } from "./repository.ts";
import { type Git, inDirectory } from "./run-git.ts";
import { realpathOfAny } from "./safe-path.ts";
import { saysNothing } from "./system-error.ts";
import { listRecords } from "./worktree-records.ts";

interface Proving extends Pick<Context, "git"> {
  readonly repository: Repository;
  readonly ref: WorkspaceRef;
  readonly query: BranchQuery;
}

/** `Workspace.mergedBranch`. Merged is what git proves by ancestry, never by comparing patches. */
export async function mergedBranch(
  { git }: Pick<Context, "git">,
  ref: WorkspaceRef,
  query: BranchQuery,
): Promise<MergedBranch | null> {
  const repository = await readRepository(git, ref.repositoryPath);
  if (repository === undefined) return null;
  const proof = await prove({ git, repository, ref, query: await knowing(git, repository, query) });
  return proof === "gone" ? null : proof;
}

/** `Workspace.deleteMerged`. Proven once more, and git itself compares where it stands. */
export async function deleteMerged(
  { git }: Pick<Context, "git">,
  ref: WorkspaceRef,
  { query, proven }: { readonly query: BranchQuery; readonly proven: MergedBranch },
): Promise<boolean> {
  const repository = await readRepository(git, ref.repositoryPath);
  if (repository === undefined) return false;
  const now = await prove({ git, repository, ref, query: await knowing(git, repository, query) });
  if (now === "gone") return true;
  if (now?.commit !== proven.commit || now.branch !== proven.branch) return false;
  const args = ["update-ref", "-d", `refs/heads/${proven.branch}`, proven.commit];
  const action = `delete branch ${proven.branch}`;
  const result = await retryLocked(action, () => git.write(inDirectory(repository.path), args));
  if (result.exitCode !== 0) throw gitFailed(action, result.stderr);
  return true;
}

/** With the default branch that the repository itself tells, where the project has none. */
async function knowing(git: Git, repository: Repository, query: BranchQuery): Promise<BranchQuery> {
  if (query.defaultBranch !== null) return query;
  const found = await findDefaultBranch(git, repository);
  return { ...query, defaultBranch: found?.name ?? null };
}

/** `null` when it has to stay. All refs are asked for at once. */
async function prove(proving: Proving): Promise<MergedBranch | "gone" | null> {
  const { git, repository, query } = proving;
  const { branch, defaultBranch } = query;
  const name = `refs/heads/${branch}`;
  const into =
    defaultBranch === null ? [] : [`refs/heads/${defaultBranch}`, `refs/remotes/origin/${defaultBranch}`];
  const refs = await listRefs(git, repository, [name, ...into]);
  const found = refs.find(({ ref }) => ref === name);
  if (found === undefined) return "gone";
  if (!(await isOurs(proving, found))) return null;
  const holder = await holderOf(proving, found, refs);
  return holder === undefined ? null : { branch, commit: found.commit, into: holder };
}

/** Made by one of the session's own operations, and nobody else has it now. */
async function isOurs({ git, repository, ref, query }: Proving, found: FoundRef): Promise<boolean> {
  if (found.checkedOutAt !== null && found.checkedOutAt !== (await realpathOfAny(ref.path))) return false;
  if (await isUnderWay(repository, found.ref)) return false;
  const log = await logOf(git, repository, found.ref);
  const maker = /^branch: Created from .* by ao operation (\S+)$/.exec(log[0]?.what ?? "")?.[1];
  if (!query.madeBy.some((id) => id === maker)) return false;
  return isHeldWithout(
    { git, repository },
    found,
    log.map(({ to }) => to),
  );
}

/** The log of a branch goes with it: what was amended or reset away stays until some other ref has it. */
async function isHeldWithout(
  { git, repository }: Pick<Proving, "git" | "repository">,
  { ref }: FoundRef,
  commits: readonly string[],
): Promise<boolean> {
  const others = [
    "--not",
    `--exclude=${ref.slice("refs/heads/".length)}`,
    "--branches",
    "--tags",
    "--remotes",
  ];
  const ask = ["rev-list", "--count", "--ignore-missing", "--stdin", ...others];
  const result = await git.read(inDirectory(repository.path), ask, `${commits.join("\n")}\n`);
  return onlyLine(result, "count the commits of a branch's log") === "0";
}

/** A rebase or bisect in any worktree comes back to the branch that it began on (git 2.39.5). */
async function isUnderWay({ commonDir }: Repository, ref: string): Promise<boolean> {
  const gitDirs = [commonDir, ...(await listRecords(commonDir)).map(({ gitDir }) => gitDir)];
  const files = ["rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"];
  const names = gitDirs.flatMap((gitDir) => files.map((file) => join(gitDir, file)));
  const begun = await Promise.all(names.map(textOf));
  return begun.some((name) => name === ref || `refs/heads/${name}` === ref);
}

async function textOf(file: string): Promise<string> {
  return readFile(file, "utf8").then(
    (text) => text.trim(),
    (error: unknown) => {
      if (saysNothing(error)) return "";
      throw error;
    },
  );
}

/** The default branch, here or where it is pulled from, that has all commits of the branch. */
async function holderOf(
  { git, repository, query }: Proving,
  found: FoundRef,
  refs: readonly FoundRef[],
): Promise<string | undefined> {
  const { defaultBranch } = query;
  if (defaultBranch === null || defaultBranch === query.branch) return undefined;
  for (const { ref, commit } of await holders(git, repository, { defaultBranch, refs })) {
    if (commit === found.commit) return ref;
    const ask = ["merge-base", "--is-ancestor", found.commit, commit];
    if (saysYes(await git.read(inDirectory(repository.path), ask), "tell what is merged")) return ref;
  }
  return undefined;
}

/** What it is pulled from may have any name: only then git is asked once more. */
async function holders(
  git: Git,
  repository: Repository,
  { defaultBranch, refs }: { readonly defaultBranch: string; readonly refs: readonly FoundRef[] },
): Promise<readonly FoundRef[]> {
  const local = refs.find(({ ref }) => ref === `refs/heads/${defaultBranch}`);
  const origin = refs.find(({ ref }) => ref === `refs/remotes/origin/${defaultBranch}`);
  const upstream = local?.upstream ?? null;
  const isElsewhere = upstream !== null && upstream !== origin?.ref;
  const others = isElsewhere ? await listRefs(git, repository, [upstream]) : [];
  const pulled = others.find(({ ref }) => ref === upstream);
  return [local, pulled, origin].filter((ref) => ref !== undefined);
}
