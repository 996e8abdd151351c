/** What is put into a new workspace before the agent starts. Paths are relative to the repository. */
export interface PostCreate {
  readonly symlinks: readonly string[];
  readonly copy: readonly string[];
  /** Shell commands that the user wrote in the configuration, run in the workspace, in order. */
  readonly commands: readonly string[];
  /** For each command, in milliseconds. */
  readonly timeoutMs: number;
}
