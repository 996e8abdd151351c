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
 * @throws AoError git_failed or git_unavailable when one of them could not be asked: no other one is taken then.
 */
export async function findDefaultBranch(git: Git, repository: Repository): Promise<string | null> {
  const where = inDirectory(repository.path);
  const [origin, configured, current] = await Promise.all([
    git.read(where, ["for-each-ref", "--format=%(symref)", "--", `${ORIGIN}HEAD`]),
    git.read(where, ["config", "--get", "init.defaultBranch"]),
    git.read(where, ["symbolic-ref", "--quiet", "HEAD"]),
  ]);
  const head = outputOf(origin, "read origin/HEAD").split("\n")[0] ?? "";
  if (head.startsWith(ORIGIN)) return head.slice(ORIGIN.length);
  const name = lineOrNone(configured, "read init.defaultBranch") ?? "";
  const usual = await firstExisting(git, repository, [name, "main", "master"]);
  if (usual !== undefined) return usual;
  const ref = lineOrNone(current, "read HEAD") ?? "";
  return ref.startsWith(LOCAL) ? ref.slice(LOCAL.length) : null;
}

async function firstExisting(
  git: Git,
  repository: Repository,
  names: readonly string[],
): Promise<string | undefined> {
  const wanted = names.filter((name) => name !== "").map((name) => `${LOCAL}${name}`);
  const there = new Set((await listRefs(git, repository, wanted)).map(({ ref }) => ref));
  return wanted.find((ref) => there.has(ref))?.slice(LOCAL.length);
}
