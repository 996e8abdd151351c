/** Finds executables. */
export interface Programs {
  /**
   * The absolute path of an executable file: `name` itself when it holds a `/` (relative to
   * `directory`), else the first match in the `:`-separated `path`. `undefined` when there is none.
   */
  find(name: string, path: string, directory: string): Promise<string | undefined>;
}
