import type { Repository } from "./repository.ts";
import { type Git, inDirectory } from "./run-git.ts";

const ORIGIN = "refs/remotes/origin/";
const LOCAL = "refs/heads/";

/**
 * The branch new work starts from, asked of nothing but the repository itself: where `origin/HEAD` points,
 * else the first of `init.defaultBranch`, `main` and `master` that exists here, else the branch that is
 * checked out in the main working tree. `null` when none of these says anything.
 */
export async function findDefaultBranch(git: Git, repository: Repository): Promise<string | null> {
  const where = inDirectory(repository.path);
  const [origin, configured, current] = await Promise.all([
    firstLine(git.read(where, ["for-each-ref", "--format=%(symref)", "--", `${ORIGIN}HEAD`])),
    firstLine(git.read(where, ["config", "--get", "init.defaultBranch"])),
    firstLine(git.read(where, ["symbolic-ref", "--quiet", "HEAD"])),
  ]);
  if (origin.startsWith(ORIGIN)) return origin.slice(ORIGIN.length);
  const usual = await firstExisting(git, repository, [configured, "main", "master"]);
  if (usual !== undefined) return usual;
  return current.startsWith(LOCAL) ? current.slice(LOCAL.length) : null;
}

async function firstExisting(
  git: Git,
  repository: Repository,
  names: readonly string[],
): Promise<string | undefined> {
  const wanted = names.filter((name) => name !== "").map((name) => `${LOCAL}${name}`);
  const format = ["for-each-ref", "--format=%(refname)", "--", ...wanted];
  const { stdout } = await git.read(inDirectory(repository.path), format);
  const there = new Set(stdout.split("\n"));
  return wanted.find((ref) => there.has(ref))?.slice(LOCAL.length);
}

async function firstLine(asked: Promise<{ readonly stdout: string }>): Promise<string> {
  return (await asked).stdout.split("\n")[0] ?? "";
}
