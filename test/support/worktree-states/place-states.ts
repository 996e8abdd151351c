import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gitRepository } from "../git-repository.ts";
import { tempDir } from "../temp-dir.ts";
import { type StatePlace, startSleep, type WorktreeState } from "./state.ts";

const IN_USE = { finds: ["in_use"], reason: "in_use" } as const;
const UNREADABLE = { finds: ["unreadable"], reason: "unknown" } as const;
const MISSING = { finds: ["missing"], reason: "no_workspace" } as const;
const NOT_OURS = { finds: [], reason: "unsafe_path" } as const;

const gitDirOf = ({ git }: StatePlace): string => git("rev-parse", "--absolute-git-dir");

/** Who uses it, what cannot be read of it, and what is not the session's worktree any more. */
export const PLACE_STATES: readonly WorktreeState[] = [
  {
    name: "it is locked",
    arrange: ({ git, path }) => void git("worktree", "lock", "--reason", "on a stick", path),
    finds: ["locked"],
    reason: "locked",
  },
  {
    name: "its folder is gone and it is locked",
    arrange: ({ git, path }) => {
      git("worktree", "lock", path);
      rmSync(path, { recursive: true });
    },
    finds: ["missing", "locked"],
    reason: "locked",
  },
  {
    name: "its folder was deleted by hand",
    arrange: ({ path }) => rmSync(path, { recursive: true }),
    ...MISSING,
  },
  {
    name: "its folder was moved away by hand",
    arrange: ({ path }) => renameSync(path, join(tempDir("ao-moved"), "moved")),
    ...MISSING,
  },
  {
    name: "a process works in it",
    arrange: ({ path }) => startSleep({ cwd: join(path, "src") }),
    ...IN_USE,
  },
  {
    name: "a process outside of it writes into one of its files",
    arrange: ({ path, write }) => {
      write("dist/build.js");
      return startSleep({ output: openSync(join(path, "dist", "build.js"), "a") });
    },
    ...IN_USE,
  },
  {
    name: "a program that was built in it runs elsewhere",
    arrange: async ({ path }) => {
      const program = join(path, "target", "app");
      mkdirSync(join(path, "target"));
      copyFileSync("/bin/sleep", program);
      chmodSync(program, 0o755);
      await startSleep({ program });
    },
    ...IN_USE,
  },
  {
    name: "its index is damaged",
    arrange: (place) => writeFileSync(join(gitDirOf(place), "index"), "garbage"),
    ...UNREADABLE,
  },
  {
    name: "its HEAD is damaged",
    arrange: (place) => writeFileSync(join(gitDirOf(place), "HEAD"), "garbage"),
    ...UNREADABLE,
  },
  {
    name: "somebody holds the lock of its index",
    arrange: (place) => writeFileSync(join(gitDirOf(place), "index.lock"), ""),
    ...UNREADABLE,
  },
  {
    name: "the log of its HEAD is missing",
    arrange: (place) => rmSync(join(gitDirOf(place), "logs", "HEAD")),
    ...UNREADABLE,
  },
  {
    name: "its link to the repository is damaged",
    arrange: ({ path }) => writeFileSync(join(path, ".git"), "garbage"),
    ...UNREADABLE,
  },
  {
    name: "its link to the repository is missing",
    arrange: ({ path }) => rmSync(join(path, ".git")),
    ...UNREADABLE,
  },
  {
    name: "its repository is gone",
    arrange: ({ repository }) => renameSync(repository.path, `${repository.path}.away`),
    ...UNREADABLE,
  },
  {
    name: "git was told that it is elsewhere now",
    arrange: ({ git, path }) => void git("worktree", "move", path, join(tempDir("ao-moved"), "moved")),
    ...NOT_OURS,
  },
  {
    name: "its folder was renamed by hand",
    arrange: ({ path, write }) => {
      write("new.txt");
      renameSync(path, `${path}.old`);
    },
    ...NOT_OURS,
  },
  {
    name: "a link took its place",
    arrange: ({ path }) => {
      renameSync(path, `${path}.old`);
      symlinkSync(`${path}.old`, path);
    },
    ...NOT_OURS,
  },
  {
    name: "another repository took its place",
    arrange: ({ path }) => {
      rmSync(path, { recursive: true });
      gitRepository(path);
    },
    ...NOT_OURS,
  },
  {
    name: "a worktree of another repository took its place",
    arrange: ({ path }) => {
      rmSync(path, { recursive: true });
      gitRepository().git("worktree", "add", "-q", "-b", "other", path);
    },
    ...NOT_OURS,
  },
  {
    name: "its mark was changed to another session's",
    arrange: (place) => {
      const file = join(gitDirOf(place), "ao.json");
      const marker = JSON.parse(readFileSync(file, "utf8"));
      writeFileSync(file, JSON.stringify({ ...marker, sessionId: "app-999" }));
    },
    ...NOT_OURS,
  },
];
