import type { ChangeLog } from "./change-log.ts";
import type { OperationStore } from "./operation-store.ts";
import type { SessionStore } from "./session-store.ts";

/** All of the canonical state. `sessions.transaction` spans the three of them. */
export interface Store {
  readonly sessions: SessionStore;
  readonly operations: OperationStore;
  readonly changes: ChangeLog;
  /** Idempotent; closes all three. */
  close(): void;
}
