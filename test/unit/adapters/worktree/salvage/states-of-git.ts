import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gitIn } from "../../../../support/git-repository.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import type { StatePlace, WorktreeState } from "./worktree-state.ts";

const CHANGED = "one\ntwo and a half\nthree\n";

/** Two branches that change the same line; the second is checked out. */
function diverge(world: StatePlace): void {
  world.git("branch", "side");
  world.write("tracked.txt", "ours\n");
  world.write("both.txt", "ours\n");
  world.git("add", ".");
  world.git("commit", "-qm", "ours");
  world.git("checkout", "-q", "side");
  world.write("tracked.txt", "theirs\n");
  world.write("both.txt", "theirs\n");
  world.git("rm", "-q", "run.sh");
  world.git("add", ".");
  world.git("commit", "-qm", "theirs");
  world.write("more.txt", "more\n");
  world.git("add", ".");
  world.git("commit", "-qm", "more");
  world.git("checkout", "-q", "feat/1");
}

/** Something of git waits to be finished. */
export const UNDER_WAY: readonly WorktreeState[] = [
  {
    name: "a merge in conflict",
    build(w) {
      diverge(w);
      w.tryGit("merge", "side");
      w.write("notes.txt", "mine\n");
    },
  },
  {
    name: "a merge in conflict, half of it settled",
    build(w) {
      diverge(w);
      w.tryGit("merge", "side");
      w.write("tracked.txt", "settled\n");
      w.git("add", "tracked.txt");
      rmSync(join(w.path, "both.txt"));
    },
  },
  {
    name: "a merge that waits for its commit",
    build(w) {
      w.git("branch", "side");
      w.git("commit", "-q", "--allow-empty", "-m", "ours");
      w.git("checkout", "-q", "side");
      w.write("side.txt", "side\n");
      w.git("add", ".");
      w.git("commit", "-qm", "side");
      w.git("checkout", "-q", "feat/1");
      w.git("merge", "-q", "--no-ff", "--no-commit", "side");
    },
  },
  {
    name: "a rebase in conflict",
    build(w) {
      diverge(w);
      w.tryGit("rebase", "side");
    },
  },
  {
    name: "a rebase of the older kind in conflict",
    build(w) {
      diverge(w);
      w.tryGit("rebase", "--apply", "side");
    },
  },
  {
    name: "a rebase with changes set aside, stopped for an edit",
    build(w) {
      w.write("second.txt", "second\n");
      w.git("add", ".");
      w.git("commit", "-qm", "second");
      w.write("tracked.txt", CHANGED);
      w.git("-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-q", "-i", "--autostash", "HEAD~1");
      w.write("second.txt", "edited\n");
    },
  },
  {
    name: "a cherry-pick of several commits in conflict",
    build(w) {
      diverge(w);
      w.tryGit("cherry-pick", "side~1", "side");
    },
  },
  {
    name: "a revert in conflict",
    build(w) {
      w.write("tracked.txt", CHANGED);
      w.git("commit", "-qam", "one");
      w.write("tracked.txt", "later\n");
      w.git("commit", "-qam", "two");
      w.tryGit("revert", "--no-edit", "HEAD~1");
    },
  },
  {
    name: "patches that stopped half-way",
    build(w) {
      diverge(w);
      const patch = join(tempDir("ao-patch"), "p.patch");
      writeFileSync(patch, `${gitIn(w.path, "format-patch", "--stdout", "feat/1..side")}\n`);
      w.tryGit("am", patch);
    },
  },
  {
    name: "a bisection",
    build(w) {
      for (let at = 0; at < 6; at += 1) w.git("commit", "-q", "--allow-empty", "-m", `${at}`);
      w.git("bisect", "start", "HEAD", "HEAD~6");
      w.git("bisect", "good");
    },
  },
  {
    name: "a conflict of a file with a folder",
    build(w) {
      w.git("branch", "side");
      w.write("thing", "file\n");
      w.git("add", ".");
      w.git("commit", "-qm", "file");
      w.git("checkout", "-q", "side");
      w.write("thing/inner.txt", "folder\n");
      w.git("add", ".");
      w.git("commit", "-qm", "folder");
      w.tryGit("merge", "feat/1");
      w.git("symbolic-ref", "HEAD");
    },
    endsOn: "side",
  },
];

/** HEAD, refs and stashes are not as they were made. */
export const POSITIONS: readonly WorktreeState[] = [
  {
    name: "a detached HEAD with commits of its own and changes",
    build(w) {
      w.git("checkout", "-q", "--detach");
      w.write("tracked.txt", CHANGED);
      w.git("commit", "-qam", "own");
      w.write("notes.txt", "mine\n");
    },
  },
  {
    name: "a branch without a commit",
    build(w) {
      w.git("checkout", "-q", "--orphan", "fresh");
      w.git("rm", "-q", "--cached", "tracked.txt");
      w.write("notes.txt", "mine\n");
    },
  },
  {
    name: "a branch without a commit or any file",
    build(w) {
      w.git("checkout", "-q", "--orphan", "fresh");
      w.git("rm", "-rqf", ".");
      w.write("only.txt", "only\n");
    },
  },
  {
    name: "another branch than that of the session",
    build(w) {
      w.git("checkout", "-q", "-b", "other");
      w.write("notes.txt", "mine\n");
      w.git("add", ".");
    },
  },
  {
    name: "refs of its own",
    build(w) {
      w.git("update-ref", "refs/worktree/mine", w.git("commit-tree", "-m", "own", "HEAD^{tree}"));
      w.write("notes.txt", "mine\n");
    },
  },
  {
    name: "a stash beside changes",
    build(w) {
      w.write("tracked.txt", CHANGED);
      w.git("stash", "-q");
      w.write("tracked.txt", "later\n");
    },
  },
];
