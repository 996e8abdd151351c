import { inspectFiles } from "../inspect-files.ts";
import { inspectModules } from "../inspect-modules.ts";
import type { Context, Owned } from "../place.ts";
import { isAsPut } from "../put-files.ts";
import type { GitLocation } from "../run-git.ts";
import { bytePathOf } from "./byte-path.ts";
import type { UnkeepablePath } from "./walk-folder.ts";

/** What of a worktree is kept besides what git shows, and what cannot be. */
export interface ChosenWork {
  /** Relative to the worktree; a folder stands for all that is in it. */
  readonly paths: readonly string[];
  readonly unkeepable: readonly UnkeepablePath[];
}

export interface WorktreeTree {
  readonly owned: Owned;
  /** Where its files are. */
  readonly root: string;
  readonly where: GitLocation;
  /** Whether submodules are looked into; in a folder that was moved git finds them no more. */
  readonly submodules: boolean;
}

/**
 * Asks the same judge as `Workspace.inspect`, so that nothing it would keep a worktree for is left out: ignored
 * files that are work, and repositories inside, wherever they are. A submodule's repository lies in the private
 * git directory and is fetched anew when it is needed again; so nothing of its own may be in it.
 *
 * @throws AoError git_failed when git could not tell.
 */
export async function chooseWork(
  { git, ignoredRule }: Pick<Context, "git" | "ignoredRule">,
  tree: WorktreeTree,
): Promise<ChosenWork> {
  const { record, marker } = tree.owned;
  const rule = () => ignoredRule(marker);
  const [{ found }, modules] = await Promise.all([
    inspectFiles(git, { ...tree, home: record.path, rule }),
    inspectModules(git, record.gitDir),
  ]);
  const { ignored = [], nested_repository: nested = [], submodule = [], unreadable = [] } = found;
  const inside = new Set(nested);
  const withWork = submodule.filter((path) => !inside.has(`${path}/`));
  return {
    paths: [...(await withoutPut(tree, ignored)), ...nested],
    unkeepable: [
      ...because("it is a submodule with work of its own", [...withWork, ...(modules.submodule ?? [])]),
      ...because("it cannot be read", [...unreadable, ...(modules.unreadable ?? [])]),
    ],
  };
}

function because(why: string, paths: readonly string[]): readonly UnkeepablePath[] {
  return [...new Set(paths)].map((path) => ({ path: bytePathOf(path), why }));
}

/** What `ao` put there itself comes again with the next worktree. */
async function withoutPut(
  { owned, root }: WorktreeTree,
  paths: readonly string[],
): Promise<readonly string[]> {
  const items = new Map(owned.marker.put.map((item) => [item.path, item]));
  const work: string[] = [];
  for (const path of paths) {
    const item = items.get(path);
    if (item === undefined || !(await isAsPut(root, item))) work.push(path);
  }
  return work;
}
