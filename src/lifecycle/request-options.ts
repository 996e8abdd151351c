/** How a command that changes a session is asked for. */
export interface RequestOptions {
  /**
   * Repeating a request with the same id and the same arguments does nothing and returns what the first run
   * came to; with other arguments it is `request_conflict`. Without one every call is a request of its own.
   */
  readonly requestId?: string | null;
}

export interface WaitOptions {
  /** How long to wait for another operation of the same session, in milliseconds; 0, not at all, if absent. */
  readonly waitMs?: number;
}
