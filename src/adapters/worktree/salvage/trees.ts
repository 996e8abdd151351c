import { splitNul } from "./byte-path.ts";
import { makeEmpty } from "./copy-index.ts";
import type { Plumbing } from "./plumbing.ts";
import type { TreeEntry } from "./scan-files.ts";

/** A name in a tree, and what is there; `undefined` removes it. */
export type TreeChange = readonly [name: string, entry: TreeEntry | undefined];

/** Changes entries of the plumbing's own index. @throws AoError git_failed when git takes a name for unsafe. */
export async function changeIndex(plumbing: Plumbing, changes: readonly TreeChange[]): Promise<void> {
  const gone: string[] = [];
  const put: string[] = [];
  for (const [name, entry] of changes) {
    if (entry === undefined) gone.push(`${name}\0`);
    else put.push(`${entry.mode} ${entry.oid} 0\t${name}\0`);
  }
  await updateIndex(plumbing, ["--force-remove", "-z", "--stdin"], gone);
  await updateIndex(plumbing, ["-z", "--index-info"], put);
}

async function updateIndex(
  plumbing: Plumbing,
  args: readonly string[],
  lines: readonly string[],
): Promise<void> {
  if (lines.length > 0) await plumbing.tell("keep the files", ["update-index", ...args], lines.join(""));
}

/** The tree of the plumbing's own index; what was left out of a partial clone may be missing from it. */
export async function writeIndexTree(plumbing: Plumbing): Promise<string> {
  return (await plumbing.tell("keep the files", ["write-tree", "--missing-ok"])).trim();
}

/** A tree of these entries, folders and all. */
export async function writeTree(
  plumbing: Plumbing,
  entries: readonly (readonly [name: string, entry: TreeEntry])[],
): Promise<string> {
  await makeEmpty(plumbing);
  await changeIndex(plumbing, entries);
  return writeIndexTree(plumbing);
}

const FOLDER = "040000";

/** A tree with these subtrees besides what `tree` has. */
export async function addSubtrees(
  plumbing: Plumbing,
  tree: string,
  subtrees: ReadonlyMap<string, string>,
): Promise<string> {
  const there = await plumbing.tell("keep the files", ["ls-tree", "-z", tree]);
  const lines = [...subtrees].map(([name, oid]) => `${FOLDER} tree ${oid}\t${name}\0`);
  return (await plumbing.tell("keep the files", ["mktree", "-z"], there + lines.join(""))).trim();
}

/** All files of a tree by their names in it. */
export async function readTree(plumbing: Plumbing, tree: string): Promise<ReadonlyMap<string, TreeEntry>> {
  const lines = splitNul(
    await plumbing.tell("read what is kept", ["ls-tree", "-r", "-z", "--full-tree", tree]),
  );
  return new Map(lines.map(parseLine));
}

/** `<mode> <type> <oid>\t<name>` (git-ls-tree(1)). */
function parseLine(line: string): [string, TreeEntry] {
  const tab = line.indexOf("\t");
  const [mode = "", , oid = ""] = line.slice(0, tab).split(" ");
  return [line.slice(tab + 1), { mode, oid }];
}

/** The names at which two trees differ. */
export async function differingNames(
  plumbing: Plumbing,
  one: string,
  other: string,
): Promise<readonly string[]> {
  if (one === other) return [];
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", one, other];
  return splitNul(await plumbing.tell("compare with HEAD", args));
}
