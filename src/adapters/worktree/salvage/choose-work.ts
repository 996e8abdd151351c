import { isKeepable } from "../../../domain/salvage.ts";
import { toFindings } from "../findings.ts";
import { findAt } from "../inspect-place.ts";
import { type Context, type Place, treeOf } from "../place.ts";
import { type BytePath, bytePathOf } from "./byte-path.ts";
import { specialPaths } from "./special-files.ts";
import type { UnkeepablePath } from "./walk-folder.ts";

/** What of a worktree is kept besides what git shows, and what cannot be. */
export interface ChosenWork {
  /** Relative to the worktree; a folder stands for all that is in it. */
  readonly paths: readonly string[];
  readonly unkeepable: readonly UnkeepablePath[];
  /** Pipes, sockets and devices. */
  readonly special: readonly BytePath[];
  /** Something was found that has to be kept. */
  readonly isWork: boolean;
}

/**
 * Asks the same judge as `Workspace.inspect`, so that nothing it would keep a worktree for is left out: ignored
 * files that are work, and repositories inside, wherever they are. A submodule's repository lies in the private
 * git directory and is fetched anew when it is needed again; so nothing of its own may be in it.
 *
 * @throws AoError git_unavailable when git could not be asked.
 */
export async function chooseWork(context: Context, place: Place): Promise<ChosenWork> {
  const found = await findAt(context, place, []);
  const {
    untracked = [],
    ignored = [],
    nested_repository: nested = [],
    submodule = [],
    unreadable = [],
  } = found;
  const inside = new Set(nested);
  const withWork = submodule.filter((path) => !inside.has(`${path}/`));
  return {
    paths: [...ignored, ...nested],
    unkeepable: [
      ...because("it is a submodule with work of its own", withWork),
      ...because("it cannot be read", unreadable),
    ],
    special: rootOf(place, (root) => specialPaths(root, untracked)),
    isWork: toFindings(found).some((finding) => isKeepable([finding])),
  };
}

function rootOf(place: Place, look: (root: string) => readonly BytePath[]): readonly BytePath[] {
  return place.kind === "standing" || place.kind === "held" ? look(treeOf(place)) : [];
}

function because(why: string, paths: readonly string[]): readonly UnkeepablePath[] {
  return [...new Set(paths)].map((path) => ({ path: bytePathOf(path), why }));
}
