import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { memoryRepositories } from "../../src/adapters/memory/repositories.ts";
import { gitRepositories } from "../../src/adapters/worktree/git-repositories.ts";
import { GIT_ENV, gitRepository } from "../support/git-repository.ts";
import { tempDir } from "../support/temp-dir.ts";
import { repositoriesContract } from "./repositories.contract.ts";

repositoriesContract("memoryRepositories", () => {
  const repositories = memoryRepositories([
    { path: "/work/repo", bare: false },
    { path: "/work/bare.git", bare: true },
  ]);
  return {
    repositories,
    repository: "/work/repo",
    subfolder: "/work/repo/src",
    bare: "/work/bare.git",
    outside: "/elsewhere",
  };
});

repositoriesContract("gitRepositories", () => {
  const repository = gitRepository();
  const subfolder = join(repository.path, "src", "deep");
  mkdirSync(subfolder, { recursive: true });
  const bare = join(tempDir("ao-bare"), "bare.git");
  repository.git("clone", "-q", "--bare", repository.path, bare);
  return {
    repositories: gitRepositories({ env: GIT_ENV }),
    repository: repository.path,
    subfolder,
    bare,
    outside: tempDir("ao-outside"),
  };
});
