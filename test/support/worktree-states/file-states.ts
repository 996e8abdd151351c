import { chmodSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StatePlace, WorktreeState } from "./state.ts";

const CHANGED = { finds: ["changed"], reason: "dirty" } as const;
const STAGED = { finds: ["staged"], reason: "dirty" } as const;
const UNTRACKED = { finds: ["untracked"], reason: "untracked" } as const;

/** Work in files that git tracks, or would. */
export const FILE_STATES: readonly WorktreeState[] = [
  { name: "a file is changed", arrange: ({ write }) => write("f.txt", "two\n"), ...CHANGED },
  { name: "a file is deleted", arrange: ({ path }) => rmSync(join(path, "f.txt")), ...CHANGED },
  {
    name: "a file is executable now",
    arrange: ({ path }) => chmodSync(join(path, "f.txt"), 0o755),
    ...CHANGED,
  },
  {
    name: "a file became a link",
    arrange: ({ path }) => {
      rmSync(join(path, "f.txt"));
      symlinkSync("src/app.js", join(path, "f.txt"));
    },
    ...CHANGED,
  },
  {
    name: "a changed file has its old size and time, and git is told to trust these",
    isHidden: true,
    arrange: changeUnseen,
    ...CHANGED,
  },
  {
    name: "a file is changed that git is told to take as unchanged",
    arrange: ({ git, write }) => {
      git("update-index", "--assume-unchanged", "f.txt");
      write("f.txt", "two\n");
    },
    ...CHANGED,
  },
  {
    name: "a file is changed that git is told to leave out",
    arrange: ({ git, write }) => {
      git("update-index", "--skip-worktree", "f.txt");
      write("f.txt", "two\n");
    },
    ...CHANGED,
  },
  {
    name: "a committed file has lines that a filter kept from git",
    isHidden: true,
    arrange: ({ commit, git }) => {
      git("config", "filter.strip.clean", "sed '/^out/d'");
      git("config", "filter.strip.smudge", "cat");
      commit(".gitattributes", "*.nb filter=strip\n");
      commit("x.nb", "code\ncode 2\nout precious\n");
    },
    ...CHANGED,
  },
  {
    name: "a committed file has line ends that a checkout does not give",
    isHidden: true,
    arrange: ({ commit, git }) => {
      git("config", "core.autocrlf", "true");
      git("config", "core.safecrlf", "false");
      commit("mixed.txt", "one\r\ntwo\n");
    },
    ...CHANGED,
  },
  {
    name: "a file is executable now, and git is told not to look",
    arrange: ({ git, path }) => {
      git("config", "core.fileMode", "false");
      chmodSync(join(path, "f.txt"), 0o755);
    },
    ...CHANGED,
  },
  {
    name: "a new file is announced to git",
    arrange: ({ git, write }) => {
      write("new.txt");
      git("add", "--intent-to-add", "new.txt");
    },
    ...CHANGED,
  },
  {
    name: "a change is staged",
    arrange: ({ git, write }) => {
      write("f.txt", "two\n");
      git("add", "f.txt");
    },
    ...STAGED,
  },
  { name: "a deletion is staged", arrange: ({ git }) => void git("rm", "-q", "f.txt"), ...STAGED },
  { name: "a move is staged", arrange: ({ git }) => void git("mv", "f.txt", "g.txt"), ...STAGED },
  {
    name: "a staged change was changed again",
    arrange: ({ git, write }) => {
      write("f.txt", "two\n");
      git("add", "f.txt");
      write("f.txt", "three\n");
    },
    finds: ["changed", "staged"],
    reason: "dirty",
  },
  {
    name: "a staged file is gone from the folder",
    arrange: ({ git, path, write }) => {
      write("new.txt");
      git("add", "new.txt");
      rmSync(join(path, "new.txt"));
    },
    finds: ["changed", "staged"],
    reason: "dirty",
  },
  {
    name: "all files of a new branch without a commit are staged",
    arrange: ({ git }) => void git("checkout", "-q", "--orphan", "void"),
    ...STAGED,
  },
  { name: "a file is untracked", arrange: ({ write }) => write("new.txt"), ...UNTRACKED },
  {
    name: "a file with an odd name in a new folder is untracked",
    arrange: ({ write }) => write('new folder/-rf\n"ü".txt'),
    ...UNTRACKED,
  },
  {
    name: "a link that leads nowhere is untracked",
    arrange: ({ path }) => symlinkSync("/nonexistent", join(path, "link")),
    ...UNTRACKED,
  },
  {
    name: "a file is untracked, and git is told not to show those",
    arrange: ({ git, write }) => {
      git("config", "status.showUntrackedFiles", "no");
      write("new.txt");
    },
    ...UNTRACKED,
  },
  {
    name: "a file is changed, one is staged, one untracked and one ignored",
    arrange: ({ git, write }) => {
      write("f.txt", "two\n");
      write("staged.txt");
      git("add", "staged.txt");
      write("new.txt");
      write(".env");
    },
    finds: ["changed", "staged", "untracked", "ignored"],
    reason: "dirty",
  },
  {
    name: "its folder was deleted by hand after something was staged",
    arrange: ({ git, path, write }) => {
      write("new.txt");
      git("add", "new.txt");
      rmSync(path, { recursive: true });
    },
    finds: ["missing", "staged"],
    reason: "no_workspace",
  },
];

/** git compares the time of the last change of a file's data or mode in whole seconds. */
async function changeUnseen({ git, path }: StatePlace): Promise<void> {
  const file = join(path, "f.txt");
  const secondOf = () => Math.floor(statSync(file).ctimeMs / 1000);
  git("config", "core.trustctime", "false");
  git("config", "core.checkStat", "minimal");
  utimesSync(file, 1_000_000_000, 1_000_000_000);
  git("update-index", "--refresh");
  const known = secondOf();
  while (secondOf() === known) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    writeFileSync(file, "two\n");
    utimesSync(file, 1_000_000_000, 1_000_000_000);
  }
}
