import { gitIn, type TestRepository, writeIn } from "./git-repository.ts";
import { COMMIT_STATES } from "./worktree-states/commit-states.ts";
import { DISK_STATES } from "./worktree-states/disk-states.ts";
import { FILE_STATES } from "./worktree-states/file-states.ts";
import { FREE_STATES } from "./worktree-states/free-states.ts";
import { IGNORED_STATES } from "./worktree-states/ignored-states.ts";
import { ODD_STATES } from "./worktree-states/odd-states.ts";
import { PLACE_STATES } from "./worktree-states/place-states.ts";
import { REPOSITORY_STATES } from "./worktree-states/repository-states.ts";
import type { StatePlace, WorktreeState } from "./worktree-states/state.ts";

/** States of a session's worktree, each made with real git, each with what `ao` has to make of it. */
export const WORKTREE_STATES: readonly WorktreeState[] = [
  ...FREE_STATES,
  ...FILE_STATES,
  ...IGNORED_STATES,
  ...COMMIT_STATES,
  ...REPOSITORY_STATES,
  ...ODD_STATES,
  ...PLACE_STATES,
  ...DISK_STATES,
];

/** Brings the worktree at `path` into a state. */
export async function bringAbout(
  { arrange }: WorktreeState,
  repository: TestRepository,
  path: string,
): Promise<void> {
  const git = (...args: readonly string[]) => gitIn(path, ...args);
  const write = (file: string, content = "work\n") => writeIn(path, file, content);
  const commit: StatePlace["commit"] = (file, content) => {
    write(file, content);
    git("add", "--", file);
    git("commit", "-qm", `change ${file}`);
    return git("rev-parse", "HEAD");
  };
  await arrange({ repository, path, git, write, commit });
}
