import { errorMessage } from "../../../domain/errors.ts";
import { inspectFiles } from "../inspect-files.ts";
import { inspectModules } from "../inspect-modules.ts";
import { localCommits } from "../lost-commits.ts";
import { type Git, inDirectory } from "../run-git.ts";
import { bytePathOf, textOf } from "./byte-path.ts";
import type { Looking, WorktreeState } from "./observe.ts";
import type { UnkeepablePath } from "./walk-folder.ts";

const GITLINK = "160000";

/**
 * Work in submodules. A submodule's repository lies in the worktree's private git directory and is fetched
 * anew when it is needed again; so nothing of its own may be in it.
 */
export async function submoduleWork(
  git: Git,
  { plumbing, root }: Looking,
  { files }: WorktreeState,
): Promise<readonly UnkeepablePath[]> {
  const { submodule = [], unreadable = [] } = await inspectModules(git, plumbing.gitDir);
  const found = [...submodule, ...unreadable].map((name) => ({
    path: bytePathOf(name),
    why: "it is a submodule with commits that no remote has",
  }));
  for (const [path, { mode, oid }] of files) {
    if (mode !== GITLINK) continue;
    const why = await whyUnkeepable(git, `${root}/${textOf(path)}`, oid);
    if (why !== undefined) found.push({ path, why });
  }
  return found;
}

/** A folder without `.git` is that of a submodule that was never fetched. */
async function whyUnkeepable(git: Git, root: string, commit: string): Promise<string | undefined> {
  const where = inDirectory(root);
  try {
    const inside = await git.read(where, ["rev-parse", "--show-cdup"]);
    if (inside.stdout.trim() !== "") return undefined;
    const head = await git.read(where, ["rev-parse", "--verify", "HEAD"]);
    if (head.stdout.trim() !== commit) return "it is a submodule at another commit than the one on record";
    const { found } = await inspectFiles(git, { root, where, submodules: true });
    const hasFiles = Object.values(found).some((items) => items.length > 0);
    const hasCommits = (await localCommits(git, where)).length > 0;
    return hasFiles || hasCommits ? "it is a submodule with work of its own" : undefined;
  } catch (error) {
    return `it is a submodule that cannot be read: ${errorMessage(error)}`;
  }
}
