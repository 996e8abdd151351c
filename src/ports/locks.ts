export interface LockOptions {
  /** How long to wait for another holder that lives, in milliseconds. */
  readonly waitMs: number;
}

/**
 * Short locks between processes. One that died holds nothing: the next takes over at once.
 * Behaviour every adapter owes: test/contract/locks.contract.ts.
 */
export interface Locks {
  /**
   * Runs `work` while nobody else, in this process or another, holds the lock of that name. Not reentrant.
   *
   * @param name any text.
   * @throws AoError operation_in_progress when another held it to the end; `details.holder` is its
   *   `OperationOwner`, or `null` when it did not say who it is.
   * @throws AoError data_dir_unusable when the lock could not be made.
   * @throws what `work` throws; the lock is free then.
   */
  withLock<Result>(name: string, work: () => Promise<Result>, options: LockOptions): Promise<Result>;

  /** Takes away what those that died wrote beside their locks. Leaves what is held. Idempotent; never rejects. */
  sweep(): Promise<void>;
}
