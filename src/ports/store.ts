import type { ChangeLog } from "./change-log.ts";
import type { GoalStore } from "./goal-store.ts";
import type { MessageStore } from "./message-store.ts";
import type { OperationStore } from "./operation-store.ts";
import type { SessionStore } from "./session-store.ts";
import type { TurnStore } from "./turn-store.ts";

/** All of the canonical state. `sessions.transaction` spans all of them. */
export interface Store {
  readonly sessions: SessionStore;
  readonly operations: OperationStore;
  readonly changes: ChangeLog;
  readonly turns: TurnStore;
  readonly messages: MessageStore;
  readonly goals: GoalStore;
  /** It holds what there was when it was opened: what other processes write since is not seen in it. */
  readonly isSnapshot: boolean;
  /** Idempotent; closes all of them. */
  close(): void;
}
