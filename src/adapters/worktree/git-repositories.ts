import type { Repositories } from "../../ports/repositories.ts";
import { readRepository } from "./repository.ts";
import { type GitOptions, gitRunner } from "./run-git.ts";

/**
 * The repositories port on git.
 *
 * `find` also throws git_failed when there is a repository that git refuses to open, for example of
 * another owner (`safe.directory`): that is not the same as none.
 */
export function gitRepositories(options: GitOptions = {}): Repositories {
  const git = gitRunner(options);
  return {
    async find(directory) {
      const repository = await readRepository(git, directory);
      if (repository === undefined) return undefined;
      const { path, bare } = repository;
      return { path, bare };
    },
  };
}
