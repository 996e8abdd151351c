/** Small private files of the data directory: launch files, prompts, settings. */
export interface Files {
  /**
   * Writes a file of mode 0600, its missing folders with 0700, by rename, so that a reader sees the old
   * content or the new.
   *
   * @throws AoError data_dir_unusable when it cannot be written.
   */
  write(path: string, content: string): Promise<void>;
  /** The content, or `undefined` when there is no such file. */
  read(path: string): Promise<string | undefined>;
  /** Whether anything is at `path`, a dangling link included. */
  exists(path: string): Promise<boolean>;
  /** The names in a folder, in any order; none when there is no such folder. */
  names(folder: string): Promise<readonly string[]>;
  /**
   * Removes a file or folder of the data directory with all it holds. Idempotent.
   *
   * @throws AoError workspace_unsafe_path when it lies elsewhere, is a link, or is reached through one.
   */
  removeTree(path: string): Promise<void>;
  /** Removes a folder when nothing is in it; whatever else is there stays. Idempotent. */
  removeEmptyFolder(path: string): Promise<void>;
  /**
   * Removes drafts right in a folder (`isDraftName`) that were last written before then, Unix milliseconds. Idempotent.
   */
  removeDrafts(folder: string, beforeMs: number): Promise<void>;
}
