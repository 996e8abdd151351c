import { rmSync } from "node:fs";
import { join } from "node:path";
import { gitIn, gitRepository, repositoryAt, writeIn } from "../git-repository.ts";
import type { StatePlace, WorktreeState } from "./state.ts";

const NESTED = { finds: ["nested_repository"], reason: "dirty" } as const;
const SUBMODULE = { project: "submodule", finds: ["submodule"], reason: "dirty" } as const;

const repositoryIn = (folder: string) => ({
  arrange: ({ path }: StatePlace) => void gitRepository(join(path, folder)),
  ...NESTED,
});

/** The submodule, initialised. */
function libraryOf({ git, path }: StatePlace) {
  git("submodule", "update", "-q", "--init");
  return repositoryAt(join(path, "lib"));
}

/** Other repositories in it. */
export const REPOSITORY_STATES: readonly WorktreeState[] = [
  { name: "a repository lies in it", ...repositoryIn("nested") },
  { name: "a repository lies in an ignored folder", ...repositoryIn("build/deep/nested") },
  { name: "a repository lies deep among the packages", ...repositoryIn("node_modules/a/node_modules/@b/c") },
  {
    name: "a repository was made of a tracked folder",
    arrange: ({ path }) => {
      const inner = join(path, "src");
      gitIn(inner, "init", "-q");
      gitIn(inner, "add", ".");
      gitIn(inner, "commit", "-qm", "inner");
    },
    ...NESTED,
  },
  {
    name: "a damaged repository lies in it, of which git sees nothing",
    arrange: ({ path }) => {
      gitRepository(join(path, "nested"));
      rmSync(join(path, "nested", ".git", "HEAD"));
      rmSync(join(path, "nested", "readme.md"));
    },
    ...NESTED,
  },
  {
    name: "a bare repository lies in an ignored folder",
    arrange: ({ git }) => void git("init", "-q", "--bare", "build/bare.git"),
    ...NESTED,
  },
  {
    name: "another worktree of the same repository lies in it",
    arrange: ({ git }) => void git("worktree", "add", "-q", "-b", "inner", "inner"),
    ...NESTED,
  },
  {
    name: "a file of its submodule is changed",
    arrange: (place) => writeIn(libraryOf(place).path, "readme.md", "two\n"),
    ...SUBMODULE,
  },
  {
    name: "a file of its submodule is untracked, and git is told not to look there",
    arrange: (place) => {
      writeIn(libraryOf(place).path, "new.txt", "x");
      place.git("config", "submodule.lib.ignore", "all");
    },
    ...SUBMODULE,
  },
  {
    name: "its submodule has a commit that no remote has",
    arrange: (place) => {
      libraryOf(place).commit("new.txt", "x");
      place.git("commit", "-qam", "use it");
    },
    ...SUBMODULE,
  },
  {
    name: "its submodule has a stash",
    arrange: (place) => {
      const library = libraryOf(place);
      writeIn(library.path, "readme.md", "two\n");
      library.git("stash", "-q");
    },
    ...SUBMODULE,
  },
  {
    name: "its submodule was taken out with commits of its own",
    arrange: (place) => {
      const library = libraryOf(place);
      library.git("switch", "-qc", "mine");
      library.commit("new.txt", "x");
      place.git("submodule", "--quiet", "deinit", "-f", "lib");
    },
    ...SUBMODULE,
  },
  {
    name: "its folder was deleted by hand, and its submodule had commits of its own",
    project: "submodule",
    arrange: (place) => {
      libraryOf(place).commit("new.txt", "x");
      rmSync(place.path, { recursive: true });
    },
    finds: ["missing", "submodule"],
    reason: "no_workspace",
  },
];
