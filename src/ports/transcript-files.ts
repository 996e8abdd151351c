/** A file that is open for reading. It stays the same file when another takes its name. */
export interface OpenFile {
  /** Its size when it was opened, in bytes. */
  readonly sizeBytes: number;
  /**
   * Bytes from an offset; fewer than `maxBytes` only at the end of the file.
   *
   * @throws AoError data_dir_unusable when it cannot be read.
   */
  read(offset: number, maxBytes: number): Promise<Uint8Array>;
  /** Idempotent; never throws. */
  close(): Promise<void>;
}

/** A file that is open for writing, always at its end. */
export interface FileWriter {
  /**
   * Writes the first of these bytes and returns how many: at least one, and possibly fewer than all.
   *
   * @throws AoError data_dir_unusable when none could be written.
   */
  write(bytes: Uint8Array): Promise<number>;
  /**
   * Makes all that the file holds durable.
   *
   * @throws AoError data_dir_unusable when that failed; what was not durable before may be lost then.
   */
  fsync(): Promise<void>;
  /** Idempotent; never throws. What counts was made durable by `fsync`. */
  close(): Promise<void>;
}

/**
 * The few file operations of the transcript store, each as the system has it: nothing is durable before its
 * `fsync`, and a name not before `fsyncFolder`. Paths are absolute; links are not followed to files.
 * Behaviour every adapter owes: test/contract/transcript-files.contract.ts.
 */
export interface TranscriptFiles {
  /** @returns `undefined` when there is no such file. @throws AoError data_dir_unusable */
  open(path: string): Promise<OpenFile | undefined>;
  /** Opens a file to add to its end; makes it, mode 0600, when it is missing. @throws AoError data_dir_unusable */
  append(path: string): Promise<FileWriter>;
  /** Makes a file of mode 0600, empty also when it was there. @throws AoError data_dir_unusable */
  create(path: string): Promise<FileWriter>;
  /** Cuts a file to its first bytes. @throws AoError data_dir_unusable also when there is none. */
  truncate(path: string, sizeBytes: number): Promise<void>;
  /** Gives a file another name, at once taking it from whoever has it. @throws AoError data_dir_unusable */
  rename(from: string, to: string): Promise<void>;
  /** Removes a name. Idempotent. @throws AoError data_dir_unusable */
  unlink(path: string): Promise<void>;
  /** Makes the names in a folder durable. @throws AoError data_dir_unusable */
  fsyncFolder(folder: string): Promise<void>;
  /** Makes a folder of mode 0700, with those it lies in, durably. Idempotent. @throws AoError data_dir_unusable */
  makeFolder(folder: string): Promise<void>;
  /** The names of the files of a folder, in any order; none when it is missing. @throws AoError data_dir_unusable */
  list(folder: string): Promise<readonly string[]>;
}
