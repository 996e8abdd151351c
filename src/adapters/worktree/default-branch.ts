import { join } from "node:path";
import { type FoundRef, listRefs } from "./branch-refs.ts";
import { entryAt } from "./entry-at.ts";
import { lineOrNone } from "./git-answer.ts";
import { outputOf } from "./git-failure.ts";
import type { Repository } from "./repository.ts";
import { type Git, inDirectory } from "./run-git.ts";

const ORIGIN = "refs/remotes/origin/";
const LOCAL = "refs/heads/";

/** A branch by its short name; with what is known of the refs of this name, here and on `origin`. */
export interface DefaultBranch {
  readonly name: string;
  /** `undefined` when they were not listed. */
  readonly refs?: readonly FoundRef[];
}

/** The refs that tell where work on a branch would start. */
export const startsOf = (name: string): readonly [string, string] => [`${ORIGIN}${name}`, `${LOCAL}${name}`];

/**
 * The branch new work starts from, asked of nothing but the repository itself: where `origin/HEAD` points,
 * else the first of `init.defaultBranch`, `main` and `master` that exists here, else the branch that is
 * checked out in the main working tree. `null` when none of these says anything.
 *
 * @throws AoError git_failed or git_unavailable when one of them could not be asked: no later one is taken then.
 */
export async function findDefaultBranch(git: Git, repository: Repository): Promise<DefaultBranch | null> {
  const origin = await originHead(git, repository);
  if (origin !== undefined) return { name: origin };
  const existing = await firstExisting(git, repository);
  if (existing !== undefined) return existing;
  const name = await checkedOut(git, repository);
  return name === undefined ? null : { name };
}

async function originHead(git: Git, { path, commonDir }: Repository): Promise<string | undefined> {
  // A symbolic ref is a file, and never packed, but for a reftable.
  const files = [`${ORIGIN}HEAD`, "reftable"].map((name) =>
    entryAt(join(commonDir, name), "git_unavailable"),
  );
  if ((await Promise.all(files)).every((file) => file === undefined)) return undefined;
  const ask = ["for-each-ref", "--format=%(symref)", "--", `${ORIGIN}HEAD`];
  const answer = outputOf(await git.read(inDirectory(path), ask), "read origin/HEAD");
  return shortOf(answer.split("\n")[0], ORIGIN);
}

async function firstExisting(git: Git, repository: Repository): Promise<DefaultBranch | undefined> {
  const ask = ["config", "--get", "init.defaultBranch"];
  const answer = await git.read(inDirectory(repository.path), ask);
  const configured = lineOrNone(answer, "read init.defaultBranch") ?? "";
  const wanted = [configured, "main", "master"].filter((name) => name !== "");
  const refs = await listRefs(git, repository, wanted.flatMap(startsOf));
  const name = wanted.find((one) => refs.some(({ ref }) => ref === `${LOCAL}${one}`));
  return name === undefined ? undefined : { name, refs };
}

async function checkedOut(git: Git, { path }: Repository): Promise<string | undefined> {
  const answer = await git.read(inDirectory(path), ["symbolic-ref", "--quiet", "HEAD"]);
  return shortOf(lineOrNone(answer, "read HEAD"), LOCAL);
}

function shortOf(ref: string | undefined, prefix: string): string | undefined {
  return ref?.startsWith(prefix) === true ? ref.slice(prefix.length) : undefined;
}
