import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gitFailed } from "../git-failure.ts";
import type { Plumbing } from "./plumbing.ts";

export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly atMs: number;
}

/** Makes a commit. Nobody's name, key or hook is asked for, and the same is the same commit. */
export async function makeCommit(
  plumbing: Plumbing,
  { tree, parents, message, atMs }: NewCommit,
): Promise<string> {
  const date = `@${Math.floor(atMs / 1000)} +0000`;
  const own = plumbing.withEnv({
    ...{ GIT_AUTHOR_NAME: "ao", GIT_AUTHOR_EMAIL: "ao@localhost", GIT_AUTHOR_DATE: date },
    ...{ GIT_COMMITTER_NAME: "ao", GIT_COMMITTER_EMAIL: "ao@localhost", GIT_COMMITTER_DATE: date },
  });
  const args = ["commit-tree", ...parents.flatMap((parent) => ["-p", parent]), "-F", "-", tree];
  return (await own.tell("keep the work", args, message)).trim();
}

/**
 * Makes a ref that is not there yet, or moves one from the commit `old`, and puts it on the disk. False when
 * another was first.
 *
 * @throws AoError git_failed
 */
export async function makeRef(
  plumbing: Plumbing,
  ref: string,
  commit: string,
  old = "0".repeat(commit.length),
): Promise<boolean> {
  const result = await plumbing.ask(["update-ref", "--no-deref", ref, commit, old]);
  if (result.exitCode === 0) {
    await hardenRef(plumbing, ref);
    return true;
  }
  if (/reference already exists|\.lock': File exists/.test(result.stderr)) return false;
  throw gitFailed(`make ${ref}`, result.stderr);
}

/** git before 2.36 leaves a new ref to the system. One that is in no file of its own has been seen to already. */
async function hardenRef(plumbing: Pick<Plumbing, "commonDir">, ref: string): Promise<void> {
  const file = join(plumbing.commonDir, ref);
  for (const path of [file, dirname(file), dirname(dirname(file))]) await sync(path);
  await sync(join(plumbing.commonDir, "objects", "pack"));
}

async function sync(path: string): Promise<void> {
  const handle = await open(path).catch(() => undefined);
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

/** Removes a ref while it points at `commit`. False when it is gone or points elsewhere. */
export async function removeRef(plumbing: Plumbing, ref: string, commit: string): Promise<boolean> {
  const result = await plumbing.ask(["update-ref", "--no-deref", "-d", ref, commit]);
  return result.exitCode === 0;
}
