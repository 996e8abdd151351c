import { lostCommits } from "../lost-commits.ts";
import { readMarker } from "../marker.ts";
import { comesAgain } from "../put-files.ts";
import type { Git } from "../run-git.ts";
import { unlikeCheckout } from "../unlike-checkout.ts";
import { type BytePath, textOf } from "./byte-path.ts";
import type { ObjectFormat } from "./index-file.ts";
import type { Looking, WorktreeState } from "./observe.ts";
import { operationsUnderWay } from "./operations.ts";
import type { Plumbing } from "./plumbing.ts";
import type { StoredTrees } from "./store-tree.ts";
import { fromTreeName } from "./tree-names.ts";
import { differingNames } from "./trees.ts";

const EMPTY_TREES: Readonly<Record<ObjectFormat, string>> = {
  sha1: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  sha256: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
};

/** The tree of a commit; the empty one when there is no commit. */
export async function treeOf(
  plumbing: Plumbing,
  format: ObjectFormat,
  commit: string | null,
): Promise<string> {
  if (commit === null) return EMPTY_TREES[format];
  return (await plumbing.tell("read HEAD", ["rev-parse", "--verify", `${commit}^{tree}`])).trim();
}

/**
 * Whether a worktree in this state has anything that would go with it. Empty folders alone are nothing, nor is
 * what `ao` put there itself and can put there again, nor a file that a sparse checkout leaves out or a checkout gives
 * byte for byte.
 */
export async function isWork(
  git: Git,
  { plumbing, root, settings }: Looking,
  { state, trees }: { readonly state: WorktreeState; readonly trees: StoredTrees },
): Promise<boolean> {
  const { entries } = state.index;
  const isOdd = entries.some(({ stage, intentToAdd }) => stage > 0 || intentToAdd);
  if (isOdd || operationsUnderWay([...state.git.files.keys()]).length > 0) return true;
  const { commit } = state.git.head;
  const head = await treeOf(plumbing, settings.format, commit);
  if (trees.staged !== head) return true;
  const changed = (await differingNames(plumbing, head, trees.files)).map(fromTreeName);
  if (await hasWork({ plumbing, root }, state, changed)) return true;
  return (await lostCommits(git, plumbing.gitDir, commit)).length > 0;
}

async function hasWork(
  { plumbing, root }: Pick<Looking, "plumbing" | "root">,
  { index, files }: Pick<WorktreeState, "index" | "files">,
  changed: readonly BytePath[],
): Promise<boolean> {
  const skipped = new Set(index.entries.filter(({ skipWorktree }) => skipWorktree).map(({ path }) => path));
  const isLeftOut = (path: BytePath): boolean => skipped.has(path) && !files.has(path);
  const marker = await readMarker(plumbing.gitDir);
  const from = marker?.repositoryPath ?? null;
  const put = new Map(marker?.put.map((item) => [item.path, item]));
  const here = changed.filter((name) => !isLeftOut(name));
  const same =
    here.length === 0 ? new Set() : await givenByCheckout({ plumbing, root }, { index, files }, here);
  for (const path of here.filter((name) => !same.has(name))) {
    const item = put.get(textOf(path));
    if (item === undefined || !(await comesAgain(root, item, from))) return true;
  }
  return false;
}

/** Those that git converts and gives back as they are here; the index is that of HEAD. */
async function givenByCheckout(
  { plumbing, root }: Pick<Looking, "plumbing" | "root">,
  { index, files }: Pick<WorktreeState, "index" | "files">,
  paths: readonly BytePath[],
): Promise<ReadonlySet<BytePath>> {
  const wanted = new Set(paths);
  const tracked = index.entries.filter(
    ({ path, mode }) => wanted.has(path) && files.get(path)?.mode === mode,
  );
  const plain = tracked.filter(({ mode }) => mode === "100644" || mode === "100755");
  const unlike = new Set(await unlikeCheckout(plumbing, root, plain));
  return new Set(plain.map(({ path }) => path).filter((path) => !unlike.has(path)));
}
