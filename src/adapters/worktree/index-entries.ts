import { join } from "node:path";
import { askWithSettings, type CheckoutSettings } from "./checkout-settings.ts";
import { entryAt } from "./entry-at.ts";
import { outputOf } from "./git-failure.ts";
import type { Git, GitLocation } from "./run-git.ts";

interface HiddenEntry {
  readonly path: string;
  readonly mode: string;
  readonly oid: string;
  /** Left out of the working tree on purpose, as in a sparse checkout. */
  readonly skipped: boolean;
}

/** What the index holds beyond what `git status` tells. */
export interface IndexReport {
  /** Every tracked path, gitlinks too. */
  readonly tracked: readonly string[];
  /** Commits of other repositories: submodules and embedded ones. */
  readonly gitlinks: readonly string[];
  /** Entries whose changes git was told not to look for. */
  readonly hidden: readonly HiddenEntry[];
}

/**
 * Reads the index, and the settings on the way. `ls-files -v` writes the tag of an assume-unchanged entry in lower case
 * and `S` for skip-worktree (git-ls-files(1)).
 */
export async function readIndex(
  git: Git,
  where: GitLocation,
): Promise<IndexReport & { readonly settings: CheckoutSettings }> {
  const { result, settings } = await askWithSettings(git, where, ["ls-files", "-s", "-v", "-z"]);
  return { ...parseIndex(outputOf(result, "read the index")), settings };
}

/**
 * Parses `git ls-files -s -v -z`.
 *
 * @throws Error on an entry of another form: then nothing may be concluded.
 */
export function parseIndex(text: string): IndexReport {
  const tracked: string[] = [];
  const gitlinks: string[] = [];
  const hidden: HiddenEntry[] = [];
  for (const entry of text.split("\0").filter((part) => part !== "")) {
    const [, tag, mode, oid, path] = /^(\S) (\d+) ([0-9a-f]+) \d\t(.*)$/s.exec(entry) ?? [];
    if (tag === undefined || mode === undefined || oid === undefined || path === undefined) {
      throw new Error(`unknown index entry ${JSON.stringify(entry)}`);
    }
    tracked.push(path);
    if (mode === "160000") gitlinks.push(path);
    else if (tag === "S" || tag !== tag.toUpperCase()) {
      hidden.push({ path, mode, oid, skipped: tag.toUpperCase() === "S" });
    }
  }
  return { tracked, gitlinks, hidden };
}

/** Those hidden entries whose file is not what the index says. What cannot be compared counts as changed. */
export async function hiddenChanges(
  git: Git,
  root: string,
  { hidden }: IndexReport,
): Promise<readonly string[]> {
  const changed: string[] = [];
  const comparable: HiddenEntry[] = [];
  for (const entry of hidden) {
    const file = await entryAt(join(root, entry.path));
    if (file === undefined && entry.skipped) continue;
    const isPlain = file?.isFile() === true && entry.mode !== "120000" && !/^"|[\r\n]/.test(entry.path);
    (isPlain ? comparable : []).push(entry);
    if (!isPlain) changed.push(entry.path);
  }
  return [...changed, ...(await differing(git, root, comparable))];
}

/** Paths go in one a line; those that would not survive that never come here. */
async function differing(
  git: Git,
  root: string,
  entries: readonly HiddenEntry[],
): Promise<readonly string[]> {
  if (entries.length === 0) return [];
  const input = entries.map(({ path }) => `${path}\n`).join("");
  const result = await git.read({ kind: "directory", path: root }, ["hash-object", "--stdin-paths"], input);
  const hashes = outputOf(result, "compare hidden files").split("\n");
  return entries.filter(({ oid }, at) => hashes[at] !== oid).map(({ path }) => path);
}
