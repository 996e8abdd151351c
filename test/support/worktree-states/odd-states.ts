import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestRepository } from "../git-repository.ts";
import { leaveSocket, listenAt } from "../sockets.ts";
import { tempDir } from "../temp-dir.ts";
import type { StatePlace, WorktreeState } from "./state.ts";

const UNTRACKED = { finds: ["untracked"], reason: "untracked" } as const;
const CHANGED_TOO = { finds: ["changed", "untracked"], reason: "dirty" } as const;

/** A change and a new file. */
function workIn({ write }: StatePlace): void {
  write("f.txt", "two\n");
  write("new.txt");
}

function makePipe(place: string, permissions: string): void {
  execFileSync("mkfifo", ["-m", permissions, "--", place]);
}

/** All objects lie in another folder, as in a clone by reference. */
function borrowObjects({ path }: TestRepository): void {
  const own = join(path, ".git", "objects");
  const other = tempDir("ao-objects");
  for (const name of readdirSync(own).filter((entry) => entry !== "info")) {
    renameSync(join(own, name), join(other, name));
  }
  mkdirSync(join(own, "info"), { recursive: true });
  writeFileSync(join(own, "info", "alternates"), `${other}\n`);
}

/** History ends at the commit of `main`. */
function makeShallow({ path, git }: TestRepository): void {
  writeFileSync(join(path, ".git", "shallow"), `${git("rev-parse", "HEAD")}\n`);
}

/** An old file's content is only on a remote, which cannot be reached any more. */
function makePartial({ path, git }: TestRepository): void {
  writeFileSync(join(path, "old.bin"), "old\n");
  git("add", "old.bin");
  git("commit", "-qm", "old");
  const blob = git("rev-parse", "HEAD:old.bin");
  git("rm", "-q", "old.bin");
  git("commit", "-qm", "new");
  rmSync(join(path, ".git", "objects", blob.slice(0, 2), blob.slice(2)));
  git("config", "core.repositoryFormatVersion", "1");
  git("config", "extensions.partialClone", "origin");
  git("config", "remote.origin.url", join(path, "gone"));
  git("config", "remote.origin.promisor", "true");
  git("config", "remote.origin.partialCloneFilter", "blob:none");
}

const configured = (...settings: readonly (readonly [string, string])[]) => {
  return ({ git }: TestRepository) => {
    for (const [name, value] of settings) git("config", name, value);
  };
};

/** Work in a repository, or with names, of which there are few. */
export const ODD_STATES: readonly WorktreeState[] = [
  {
    name: "its repository is a partial clone whose remote cannot be reached",
    prepare: makePartial,
    arrange: workIn,
    ...CHANGED_TOO,
  },
  {
    name: "untracked files are called as refs, options and patterns are",
    arrange: ({ git, write }) => {
      const branch = git("branch", "--show-current");
      for (const name of [
        "HEAD",
        "main",
        branch,
        "refs/heads/main",
        "--help",
        ":(top)",
        "*.txt",
        "@{u}",
        "~",
      ]) {
        write(name, `${name}\n`);
      }
    },
    ...UNTRACKED,
  },
  {
    name: "untracked files differ in letter case alone, with git told that case does not count",
    prepare: configured(["core.ignoreCase", "true"]),
    arrange: ({ write }) => {
      for (const name of ["case.txt", "Case.txt", "CASE.TXT"]) write(name, `${name}\n`);
    },
    ...UNTRACKED,
  },
  {
    name: "a path is as long as the system allows",
    arrange: ({ path, write }) => {
      const deep = Array.from({ length: 15 }, (_, depth) => `${depth}`.repeat(100)).join("/");
      const most = 4095 - path.length - "/objects/".length;
      write(`${deep.slice(0, Math.min(deep.length, most - 300))}/${"n".repeat(240)}`);
    },
    ...UNTRACKED,
  },
  {
    name: "a pipe lies beside a new file",
    arrange: ({ path, write }) => {
      write("new.txt");
      makePipe(join(path, "pipe"), "640");
    },
    ...UNTRACKED,
  },
  {
    name: "a pipe in a folder of its own is all there is",
    arrange: ({ path }) => {
      mkdirSync(join(path, "run"), { mode: 0o750 });
      makePipe(join(path, "run", "queue"), "622");
    },
    ...UNTRACKED,
  },
  {
    name: "a socket is left of a process that is gone",
    arrange: ({ path, write }) => {
      write("new.txt");
      leaveSocket(path, "agent.sock");
    },
    lost: ["agent.sock"],
    warnings: [/agent\.sock/],
    ...UNTRACKED,
  },
  {
    name: "a process listens at a socket in it",
    arrange: ({ path, write }) => {
      write("new.txt");
      return listenAt(path, "agent.sock");
    },
    finds: ["untracked", "in_use"],
    reason: "in_use",
  },
  {
    name: "a pipe and a socket are ignored, one by one",
    arrange: ({ path, commit, write }) => {
      commit(".gitignore", "*.sock\n*.fifo\n");
      write("new.txt");
      leaveSocket(path, "agent.sock");
      makePipe(join(path, "a.fifo"), "600");
    },
    lost: ["agent.sock", "a.fifo"],
    ...UNTRACKED,
  },
  {
    name: "an untracked file has a second name elsewhere, and another one is all holes",
    arrange: ({ path, write }) => {
      write("new.txt");
      linkSync(join(path, "new.txt"), join(tempDir("ao-link"), "second"));
      write("holes.bin", "");
      truncateSync(join(path, "holes.bin"), 64 * 1024 ** 2);
    },
    ...UNTRACKED,
  },
  {
    name: "files are changed in a repository that borrows its objects",
    prepare: borrowObjects,
    arrange: workIn,
    ...CHANGED_TOO,
  },
  {
    name: "a commit was made detached in a shallow repository, and more was changed",
    prepare: makeShallow,
    arrange: (place) => {
      place.git("checkout", "-q", "--detach");
      place.commit("1.txt");
      workIn(place);
    },
    finds: ["changed", "untracked", "unreachable_commits"],
    reason: "dirty",
  },
  {
    name: "files are changed, and git is told to say everything in another way",
    prepare: configured(
      ["color.ui", "always"],
      ["core.abbrev", "4"],
      ["core.quotePath", "true"],
      ["core.preloadIndex", "false"],
      ["diff.external", "false"],
      ["diff.ignoreSubmodules", "all"],
      ["diff.mnemonicPrefix", "true"],
      ["diff.noprefix", "true"],
      ["log.showSignature", "true"],
      ["status.branch", "true"],
      ["status.relativePaths", "true"],
      ["status.short", "true"],
      ["status.showStash", "true"],
      ["pager.status", "true"],
      ["alias.status", "log"],
    ),
    arrange: workIn,
    ...CHANGED_TOO,
  },
  {
    name: "files are changed in a repository that names its own folder",
    prepare: (repository) => void repository.git("config", "core.worktree", repository.path),
    arrange: workIn,
    ...CHANGED_TOO,
  },
  {
    name: "a commit was replaced, and files are changed",
    arrange: (place) => {
      const other = place.git("commit-tree", "-m", "other", "HEAD^{tree}");
      place.git("replace", "HEAD", other);
      workIn(place);
    },
    ...CHANGED_TOO,
  },
  {
    name: "a filter that git cannot do without is missing",
    arrange: ({ git, write, commit }) => {
      write("big.bin", "big\n");
      commit(".gitattributes", "*.bin filter=large\n");
      git("config", "filter.large.clean", "/nonexistent/clean");
      git("config", "filter.large.smudge", "/nonexistent/smudge");
      git("config", "filter.large.required", "true");
    },
    ...UNTRACKED,
  },
];
