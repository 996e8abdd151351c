import { lstat, readlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { linesOf } from "./git-answer.ts";
import { inspectFiles, type RuleSource } from "./inspect-files.ts";
import type { PutItem } from "./marker.ts";
import { hashFile } from "./put-files.ts";
import { type Git, inDirectory } from "./run-git.ts";

interface SnapshotOptions {
  readonly commandsRan: boolean;
  /** What is known to have been put there; it is not listed again. */
  readonly known: readonly PutItem[];
  /** As for `inspectFiles`: what it says is output needs no listing. */
  readonly rule: RuleSource;
}

/** Bigger files are left to count as work rather than read whole. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const MAX_FILES = 2_000;

/**
 * What post-create commands and the checkout hook made or changed in a new worktree, so that it does not
 * pass for an agent's work while it stays as it is. One look at the hook when no command ran.
 */
export async function snapshotMade(
  git: Git,
  root: string,
  { commandsRan, known, rule }: SnapshotOptions,
): Promise<readonly PutItem[]> {
  if (!commandsRan && !(await hasCheckoutHook(git, root))) return [];
  const { found } = await inspectFiles(git, { root, where: inDirectory(root), submodules: false, rule });
  const paths = [...(found.changed ?? []), ...(found.untracked ?? []), ...(found.ignored ?? [])];
  const names = new Set(known.map(({ path }) => path));
  const items: PutItem[] = [];
  for (const path of paths.filter((name) => !names.has(name)).slice(0, MAX_FILES)) {
    items.push(...(await snapshot(root, path)));
  }
  return items;
}

/** Whether git runs something of the user's own after a checkout. */
export async function hasCheckoutHook(git: Git, root: string): Promise<boolean> {
  const result = await git.read(inDirectory(root), ["rev-parse", "--git-path", "hooks/post-checkout"]);
  const hook = resolve(root, linesOf(result, "tell where hooks are").join("\n"));
  return lstat(hook).then(
    () => true,
    () => false,
  );
}

async function snapshot(root: string, path: string): Promise<readonly PutItem[]> {
  const file = join(root, path);
  const entry = await lstat(file).catch(() => undefined);
  if (entry?.isSymbolicLink() === true) return [{ path, kind: "symlink", target: await readlink(file) }];
  if (entry?.isFile() !== true || entry.size > MAX_FILE_BYTES) return [];
  return [{ path, kind: "made", sha256: await hashFile(file) }];
}
