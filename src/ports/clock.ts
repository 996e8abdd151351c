/** Time as the core sees it. */
export interface Clock {
  /** Unix time in milliseconds. It may jump, also backwards. */
  nowMs(): number;
  /** Resolves after at least `ms` milliseconds. */
  sleep(ms: number): Promise<void>;
}
