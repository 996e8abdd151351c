import { mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { gitIn } from "../git-repository.ts";
import { withRemote } from "./commit-states.ts";
import type { WorktreeState } from "./state.ts";

const FREE = { finds: [], reason: null } as const;

/** States in which nothing would be lost. */
export const FREE_STATES: readonly WorktreeState[] = [
  { name: "nothing was done in it", arrange: () => {}, ...FREE },
  { name: "its branch has new commits", arrange: ({ commit }) => void commit("new.txt"), ...FREE },
  {
    name: "another branch that was made in it has new commits",
    arrange: ({ git, commit }) => {
      git("switch", "-qc", "other");
      commit("new.txt");
    },
    ...FREE,
  },
  {
    name: "HEAD is detached at a commit that its branch has",
    arrange: ({ git, commit }) => {
      commit("new.txt");
      git("checkout", "-q", "--detach");
    },
    ...FREE,
  },
  {
    name: "HEAD is detached at a commit that a remote has, which cannot be reached any more",
    prepare: withRemote,
    arrange: ({ git }) => {
      git("checkout", "-q", "--detach", "origin/theirs");
      git("remote", "set-url", "origin", "file:///nonexistent");
    },
    ...FREE,
  },
  {
    name: "its branch was squash-merged",
    arrange: ({ git, commit, repository }) => {
      commit("new.txt");
      repository.git("merge", "-q", "--squash", git("branch", "--show-current"));
      repository.git("commit", "-qm", "squashed");
    },
    ...FREE,
  },
  {
    name: "an amend and a reset left commits that the log of its branch has",
    arrange: ({ git, commit }) => {
      commit("new.txt");
      git("commit", "-q", "--amend", "-m", "again");
      git("reset", "-q", "--hard", "HEAD~1");
    },
    ...FREE,
  },
  {
    name: "a reset left a commit that the log of its branch has, in a bare repository",
    project: "bare",
    arrange: ({ git, commit }) => {
      commit("new.txt");
      git("reset", "-q", "--hard", "HEAD~1");
    },
    ...FREE,
  },
  {
    name: "a stash was made in it",
    arrange: ({ git, write }) => {
      write("f.txt", "two\n");
      git("stash", "-q");
    },
    ...FREE,
  },
  {
    name: "a new branch without a commit is checked out",
    arrange: ({ git }) => void git("switch", "-q", "--orphan", "void"),
    ...FREE,
  },
  { name: "it is of a bare repository", project: "bare", arrange: () => {}, ...FREE },
  {
    name: "a sparse checkout leaves files out",
    arrange: ({ git }) => void git("sparse-checkout", "set", "--no-cone", "f.txt"),
    ...FREE,
  },
  {
    name: "a file was touched and is as it was",
    arrange: ({ path }) => utimesSync(join(path, "f.txt"), 1, 1),
    ...FREE,
  },
  {
    name: "a committed file has line ends that a checkout gives, too",
    arrange: ({ commit, git }) => {
      git("config", "core.autocrlf", "true");
      commit("new.txt", "one\r\ntwo\r\n");
    },
    ...FREE,
  },
  {
    name: "an empty folder was made",
    arrange: ({ path }) => void mkdirSync(join(path, "empty")),
    ...FREE,
  },
  {
    name: "packages were installed",
    arrange: ({ write }) => {
      write("node_modules/lib/index.js");
      write("node_modules/lib/cert.pem");
    },
    ...FREE,
  },
  {
    name: "it was built",
    arrange: ({ write }) => {
      for (const file of ["dist/app.js", "dist/index.html", "target/debug/app", ".next/BUILD_ID"])
        write(file);
    },
    ...FREE,
  },
  {
    name: "a Python environment was made",
    arrange: ({ write }) => {
      for (const file of ["pyvenv.cfg", "bin/python", "lib/site.py"]) write(`venv/${file}`);
      write("src/__pycache__/app.pyc");
    },
    ...FREE,
  },
  {
    name: "ignored files lie in it that the user calls reproducible",
    ignored: { reproducible: ["data/", "*.log"], work: [] },
    arrange: ({ write }) => {
      write("data/set.csv");
      write("debug.log");
    },
    ...FREE,
  },
  {
    name: "what was copied and linked into it is unchanged",
    lost: ["data"],
    prepare: ({ path }) => {
      for (const file of [".env", "data/set.csv"]) {
        mkdirSync(join(path, "data"), { recursive: true });
        gitIn(path, "config", "--file", join(path, file), "a.b", "c");
      }
    },
    postCreate: { copy: [".env"], symlinks: ["data"], commands: ["echo made >made.db"] },
    arrange: () => {},
    ...FREE,
  },
  {
    name: "its submodule is as it was recorded",
    project: "submodule",
    arrange: ({ git }) => void git("submodule", "update", "-q", "--init"),
    ...FREE,
  },
  {
    name: "all worktrees lie on a file system of their own",
    ownDisk: "worktrees",
    arrange: ({ commit }) => void commit("new.txt"),
    ...FREE,
  },
  {
    name: "the trash lies on a file system of its own",
    ownDisk: "trash",
    arrange: ({ commit }) => void commit("new.txt"),
    ...FREE,
  },
  {
    name: "the worktrees of its project lie on a file system of their own",
    ownDisk: "project",
    arrange: ({ commit }) => void commit("new.txt"),
    ...FREE,
  },
];
