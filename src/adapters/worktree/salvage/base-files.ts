import { readMarker } from "../marker.ts";
import { comesAgain } from "../put-files.ts";
import { type BytePath, bytePathOf, splitNul } from "./byte-path.ts";
import { makeEmpty } from "./copy-index.ts";
import type { Plumbing } from "./plumbing.ts";
import { readTree } from "./trees.ts";

/** What in a worktree came there with its making, and can come again. */
export interface BaseFiles {
  /** As HEAD has them. */
  readonly clean: ReadonlySet<BytePath>;
  /** In HEAD, and other here. */
  readonly changed: ReadonlySet<BytePath>;
  /** Put there by `ao`, unchanged, and no last copy. */
  readonly put: ReadonlySet<BytePath>;
}

export interface BaseOptions {
  /** Its index is a copy that may be written to. */
  readonly plumbing: Plumbing;
  readonly root: string;
  /** Commit of HEAD; `null` when there is none. */
  readonly head: string | null;
  /** The index has entries whose files git was told not to look at. */
  readonly hasHidden: boolean;
}

/** Looks at the files of a worktree beside those of its HEAD. The plumbing's index is HEAD's afterwards. */
export async function baseFiles({ plumbing, root, head, hasHidden }: BaseOptions): Promise<BaseFiles> {
  const put = await unchangedPut(plumbing.gitDir, root);
  if (head === null) return { clean: new Set(), changed: new Set(), put };
  if (hasHidden) await makeEmpty(plumbing);
  await plumbing.tell("read HEAD", ["read-tree", "--reset", "--no-sparse-checkout", head]);
  await plumbing.ask(["update-index", "-q", "--refresh", "--ignore-missing"]);
  const args = ["diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules=all"];
  const changed = new Set(splitNul(await plumbing.tell("compare the files with HEAD", args)));
  const all = [...(await readTree(plumbing, head)).keys()];
  return { clean: new Set(all.filter((path) => !changed.has(path))), changed, put };
}

async function unchangedPut(gitDir: string, root: string): Promise<ReadonlySet<BytePath>> {
  const marker = await readMarker(gitDir);
  const found = new Set<BytePath>();
  const from = marker?.repositoryPath ?? null;
  for (const item of marker?.put ?? []) {
    if (await comesAgain(root, item, from)) found.add(bytePathOf(item.path));
  }
  return found;
}
