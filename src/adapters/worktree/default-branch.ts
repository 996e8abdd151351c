import { listRefs } from "./branch-refs.ts";
import { lineOrNone } from "./git-answer.ts";
import { outputOf } from "./git-failure.ts";
import type { Repository } from "./repository.ts";
import { type Git, inDirectory } from "./run-git.ts";

const ORIGIN = "refs/remotes/origin/";
const LOCAL = "refs/heads/";

/**
 * The branch new work starts from, asked of nothing but the repository itself: where `origin/HEAD` points,
 * else the first of `init.defaultBranch`, `main` and `master` that exists here, else the branch that is
 * checked out in the main working tree. `null` when none of these says anything.
 *
 * @throws AoError git_failed or git_unavailable when one of them could not be asked: no later one is taken then.
 */
export async function findDefaultBranch(git: Git, repository: Repository): Promise<string | null> {
  return (
    (await originHead(git, repository)) ??
    (await firstExisting(git, repository)) ??
    (await checkedOut(git, repository)) ??
    null
  );
}

async function originHead(git: Git, { path }: Repository): Promise<string | undefined> {
  const ask = ["for-each-ref", "--format=%(symref)", "--", `${ORIGIN}HEAD`];
  const answer = outputOf(await git.read(inDirectory(path), ask), "read origin/HEAD");
  return shortOf(answer.split("\n")[0], ORIGIN);
}

async function firstExisting(git: Git, repository: Repository): Promise<string | undefined> {
  const ask = ["config", "--get", "init.defaultBranch"];
  const answer = await git.read(inDirectory(repository.path), ask);
  const configured = lineOrNone(answer, "read init.defaultBranch") ?? "";
  const wanted = [configured, "main", "master"]
    .filter((name) => name !== "")
    .map((name) => `${LOCAL}${name}`);
  const there = new Set((await listRefs(git, repository, wanted)).map(({ ref }) => ref));
  return shortOf(
    wanted.find((ref) => there.has(ref)),
    LOCAL,
  );
}

async function checkedOut(git: Git, { path }: Repository): Promise<string | undefined> {
  const answer = await git.read(inDirectory(path), ["symbolic-ref", "--quiet", "HEAD"]);
  return shortOf(lineOrNone(answer, "read HEAD"), LOCAL);
}

function shortOf(ref: string | undefined, prefix: string): string | undefined {
  return ref?.startsWith(prefix) === true ? ref.slice(prefix.length) : undefined;
}
