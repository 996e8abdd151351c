/** Time as the core sees it. */
export interface Clock {
  /** Unix time in milliseconds. It may jump, also backwards. */
  nowMs(): number;
  /** Resolves after at least `ms` milliseconds, or as soon as `signal` is aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
