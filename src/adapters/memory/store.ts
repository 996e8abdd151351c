import type { SessionStore } from "../../ports/session-store.ts";
import type { Store } from "../../ports/store.ts";
import { memoryChangeLog } from "./change-log.ts";
import { memoryGoalStore } from "./goal-store.ts";
import { memoryMessageStore } from "./message-store.ts";
import { memoryOperationStore } from "./operation-store.ts";
import { type MemorySessionStore, memorySessionStore } from "./session-store.ts";
import { memoryTurnStore } from "./turn-store.ts";

interface MemoryStore extends Store {
  readonly sessions: MemorySessionStore;
}

/** All of the canonical state in memory: nothing outlives the object, everything else is as with a file. */
export function memoryStore(): MemoryStore {
  const sessions = memorySessionStore();
  const operations = memoryOperationStore();
  const changes = memoryChangeLog();
  const turns = memoryTurnStore();
  const messages = memoryMessageStore();
  const goals = memoryGoalStore();
  const parts = [operations, changes, turns, messages, goals];

  const transaction: SessionStore["transaction"] = (work) => {
    const putBack = parts.map((part) => part.remember());
    try {
      return sessions.transaction(work);
    } catch (error) {
      for (const undo of putBack) undo();
      throw error;
    }
  };

  return {
    sessions: { ...sessions, transaction },
    operations,
    changes,
    turns,
    messages,
    goals,
    isSnapshot: false,
    close: () => sessions.close(),
  };
}
