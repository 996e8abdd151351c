/** What git says of the repository around a folder. */
export interface RepositoryInfo {
  /** Resolved path of the main working tree, also when asked from a linked one; of the bare repository else. */
  readonly path: string;
  readonly bare: boolean;
}

/** Finds repositories. */
export interface Repositories {
  /**
   * The repository around `directory`, or `undefined` when there is none. `GIT_*` variables of the
   * caller have no say.
   *
   * @throws AoError git_unavailable when git is missing or did not answer.
   */
  find(directory: string): Promise<RepositoryInfo | undefined>;
}
