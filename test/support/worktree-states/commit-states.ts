import { rmSync } from "node:fs";
import { join } from "node:path";
import { gitExit, gitIn, type TestRepository } from "../git-repository.ts";
import { tempDir } from "../temp-dir.ts";
import type { StatePlace, WorktreeState } from "./state.ts";

const LOST = { finds: ["unreachable_commits"], reason: "unmerged_commits" } as const;

/** Gives the repository a remote that has a branch `theirs` of its own. */
export function withRemote(repository: TestRepository): void {
  const remote = join(tempDir("ao-remote"), "remote.git");
  repository.git("clone", "-q", "--bare", repository.path, remote);
  const commit = gitIn(remote, "commit-tree", "-p", "HEAD", "-m", "theirs", "HEAD^{tree}");
  gitIn(remote, "update-ref", "refs/heads/theirs", commit);
  repository.git("remote", "add", "origin", remote);
  repository.git("fetch", "-q", "origin");
}

const keepNoLogs = (repository: TestRepository) =>
  void repository.git("config", "core.logAllRefUpdates", "false");

function leaveDetached({ git, commit }: StatePlace): void {
  const branch = git("branch", "--show-current");
  git("checkout", "-q", "--detach");
  commit("new.txt");
  git("checkout", "-q", branch);
}

/** Commits that would go with it. */
const LOST_STATES: readonly WorktreeState[] = [
  {
    name: "HEAD is detached and has a new commit",
    arrange: ({ git, commit }) => {
      git("checkout", "-q", "--detach");
      commit("new.txt");
    },
    ...LOST,
  },
  { name: "a commit was made detached and left behind", arrange: leaveDetached, ...LOST },
  {
    name: "a commit was made detached and left behind, in a repository that keeps no logs",
    prepare: keepNoLogs,
    arrange: leaveDetached,
    ...LOST,
  },
  {
    name: "a reset left a commit behind, in a bare repository that keeps no logs",
    project: "bare",
    prepare: keepNoLogs,
    arrange: ({ git, commit }) => {
      git("switch", "-qc", "other");
      commit("new.txt");
      git("reset", "-q", "--hard", "HEAD~1");
    },
    ...LOST,
  },
  {
    name: "a branch with a new commit was deleted",
    arrange: ({ git, commit }) => {
      const branch = git("branch", "--show-current");
      git("switch", "-qc", "other");
      commit("new.txt");
      git("switch", "-q", branch);
      git("branch", "-qD", "other");
    },
    ...LOST,
  },
  {
    name: "its branch was squash-merged and deleted under it",
    isBranchless: true,
    arrange: ({ git, commit, repository }) => {
      const branch = git("branch", "--show-current");
      commit("new.txt");
      repository.git("merge", "-q", "--squash", branch);
      repository.git("commit", "-qm", "squashed");
      git("checkout", "-q", "--detach");
      git("branch", "-qD", branch);
    },
    ...LOST,
  },
  {
    name: "its branch vanished under it",
    isBranchless: true,
    arrange: ({ git, commit }) => {
      commit("new.txt");
      git("update-ref", "-d", "HEAD");
    },
    finds: ["staged", "unreachable_commits"],
    reason: "dirty",
  },
  {
    name: "HEAD is detached at a commit of a remote that was removed",
    prepare: withRemote,
    arrange: ({ git }) => {
      git("checkout", "-q", "--detach", "origin/theirs");
      git("remote", "remove", "origin");
    },
    ...LOST,
  },
  {
    name: "a commit is held by a ref of the worktree alone",
    arrange: ({ git }) => {
      const commit = git("commit-tree", "-m", "x", "HEAD^{tree}");
      git("update-ref", "refs/worktree/mine", commit);
    },
    ...LOST,
  },
  {
    name: "a reset left a commit behind, and all logs were made to forget it",
    arrange: ({ git, commit }) => {
      commit("new.txt");
      git("reset", "-q", "--hard", "HEAD~1");
      git("reflog", "expire", "--expire=now", "--all");
    },
    ...LOST,
  },
  {
    name: "its folder was deleted by hand after a commit was made detached",
    arrange: (place) => {
      leaveDetached(place);
      rmSync(place.path, { recursive: true });
    },
    finds: ["missing", "unreachable_commits"],
    reason: "no_workspace",
  },
];

/** Two branches that changed the same line, so that nothing goes through. */
function conflict({ git, commit }: StatePlace): void {
  const branch = git("branch", "--show-current");
  git("switch", "-qc", "theirs");
  commit("f.txt", "theirs\n");
  git("switch", "-q", branch);
  commit("f.txt", "ours\n");
  commit("f.txt", "ours again\n");
}

const stopped = (name: string, ...command: readonly string[]): WorktreeState => ({
  name: `a ${name} has stopped at a conflict`,
  arrange: (place) => {
    conflict(place);
    gitExit(place.path, ...command);
  },
  finds: ["changed", "operation_in_progress"],
  reason: "operation_in_progress",
});

/** Something that waits to be finished. */
const UNFINISHED_STATES: readonly WorktreeState[] = [
  stopped("merge", "merge", "-q", "theirs"),
  stopped("rebase", "rebase", "-q", "theirs"),
  stopped("cherry-pick", "cherry-pick", "theirs"),
  stopped("revert", "revert", "--no-edit", "HEAD~1"),
  {
    name: "patches wait to be applied",
    arrange: (place) => {
      conflict(place);
      const patch = join(place.path, "..", "0001.patch");
      place.git("format-patch", "-q", "-1", "--output", patch, "theirs");
      gitExit(place.path, "am", "-q", patch);
      rmSync(patch);
    },
    finds: ["operation_in_progress"],
    reason: "operation_in_progress",
  },
  {
    name: "a bisect is under way",
    arrange: ({ git, commit }) => {
      commit("1.txt");
      commit("2.txt");
      git("bisect", "start", "HEAD", "HEAD~2");
    },
    finds: ["operation_in_progress"],
    reason: "operation_in_progress",
  },
  {
    name: "a merge is resolved and not committed",
    arrange: (place) => {
      conflict(place);
      gitExit(place.path, "merge", "-q", "theirs");
      place.write("f.txt", "both\n");
      place.git("add", "f.txt");
    },
    finds: ["staged", "operation_in_progress"],
    reason: "operation_in_progress",
  },
  {
    name: "its folder was deleted by hand in the middle of a rebase",
    arrange: (place) => {
      conflict(place);
      gitExit(place.path, "rebase", "-q", "theirs");
      rmSync(place.path, { recursive: true });
    },
    finds: ["missing", "staged", "operation_in_progress"],
    reason: "no_workspace",
  },
];

export const COMMIT_STATES: readonly WorktreeState[] = [...LOST_STATES, ...UNFINISHED_STATES];
