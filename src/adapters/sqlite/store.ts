import { resolve } from "node:path";
import type { Database } from "better-sqlite3";
import type { ChangeLog } from "../../ports/change-log.ts";
import type { GoalStore } from "../../ports/goal-store.ts";
import type { MessageStore } from "../../ports/message-store.ts";
import type { OperationStore } from "../../ports/operation-store.ts";
import type { Store } from "../../ports/store.ts";
import type { TurnStore } from "../../ports/turn-store.ts";
import { type Call, callsOf } from "./calls.ts";
import { changeTable } from "./change-table.ts";
import { goalTable } from "./goal-table.ts";
import { messageTable } from "./message-table.ts";
import { MIGRATIONS } from "./migrations.ts";
import { openDatabase } from "./open-database.ts";
import { operationTable } from "./operation-table.ts";
import { readDatabase } from "./read-database.ts";
import { sessionStore } from "./session-store.ts";
import { turnTable } from "./turn-table.ts";

export interface SqliteStoreOptions {
  /** The database file; made, in a folder that is there, when there is none. */
  readonly path: string;
  /**
   * Nothing is written, also not by the opening: a database that is not there is an error, and one of an older
   * `ao` stays as it is. Works on a full disk and where nothing may be written.
   */
  readonly isReadOnly?: boolean;
  /** How long a call waits for another process's transaction before it is `store_busy`. */
  readonly busyTimeoutMs?: number;
}

function operationStore(db: Database, call: Call): OperationStore {
  const table = operationTable(db);
  return {
    get: (id) => call(() => table.get(id)),
    insert: (operation) => call(() => table.insert(operation)),
    save: (operation, readVersion) => call(() => table.save(operation, readVersion)),
    unfinished: () => call(() => table.unfinished()),
    ofKind: (kind, projectId, limit) => call(() => table.ofKind(kind, projectId, limit)),
    ofSession: (id, limit) => call(() => table.ofSession(id, limit)),
  };
}

function changeLog(db: Database, call: Call): ChangeLog {
  const table = changeTable(db);
  return {
    append: (change) => call(() => table.append(change)),
    after: (sequence, limit) => call(() => table.after(sequence, limit)),
    last: () => call(() => table.last()),
  };
}

function turnStore(db: Database, call: Call): TurnStore {
  const table = turnTable(db);
  return {
    get: (key) => call(() => table.get(key)),
    live: (id) => call(() => table.live(id)),
    newest: (id) => call(() => table.newest(id)),
    ofSession: (id, limit) => call(() => table.ofSession(id, limit)),
    allLive: () => call(() => table.allLive()),
    insert: (turn) => call(() => table.insert(turn)),
    save: (turn, readVersion) => call(() => table.save(turn, readVersion)),
    keepCheckpoint: (key, edge, checkpoint) => call(() => table.keepCheckpoint(key, edge, checkpoint)),
  };
}

function messageStore(db: Database, call: Call): MessageStore {
  const table = messageTable(db);
  return {
    get: (id) => call(() => table.get(id)),
    ofRequest: (id, requestId) => call(() => table.ofRequest(id, requestId)),
    firstQueued: (id) => call(() => table.firstQueued(id)),
    queued: (id) => call(() => table.queued(id)),
    sent: (id) => call(() => table.sent(id)),
    sessionsWaiting: () => call(() => table.sessionsWaiting()),
    lastNumber: (id) => call(() => table.lastNumber(id)),
    insert: (message) => call(() => table.insert(message)),
    save: (message, readVersion) => call(() => table.save(message, readVersion)),
  };
}

function goalStore(db: Database, call: Call): GoalStore {
  const table = goalTable(db);
  return {
    state: (id) => call(() => table.state(id)),
    active: () => call(() => table.active()),
    insert: (state) => call(() => table.insert(state)),
    save: (state, readVersion) => call(() => table.save(state, readVersion)),
    fences: (id) => call(() => table.fences(id)),
    insertFence: (fence) => call(() => table.insertFence(fence)),
    markInstalled: (fence, launchId) => call(() => table.markInstalled(fence, launchId)),
  };
}

/**
 * All of the canonical state in one SQLite file, shared by any number of processes: write-ahead log, each
 * commit on disk before its call returns, writers one after another, readers never waiting for a writer.
 *
 * @throws AoError store_corrupt, store_newer, store_busy or data_dir_unusable when it cannot be opened; what
 *   was there is left as it was.
 */
export function sqliteStore({ isReadOnly = false, ...options }: SqliteStoreOptions): Store {
  const path = resolve(options.path);
  const request = { path, busyTimeoutMs: options.busyTimeoutMs ?? 10_000, migrations: MIGRATIONS };
  const { db, isCopy } = isReadOnly ? readDatabase(request) : { db: openDatabase(request), isCopy: false };
  const call = callsOf(db);
  try {
    // Statements are prepared here: what the schema lacks shows now.
    return call(() => storeOn(db, call, { isReadOnly, isCopy }));
  } catch (error) {
    db.close();
    throw error;
  }
}

function storeOn(
  db: Database,
  call: Call,
  { isReadOnly, isCopy }: { readonly isReadOnly: boolean; readonly isCopy: boolean },
): Store {
  const sessions = sessionStore(db, call, { isReadOnly });
  return {
    sessions,
    operations: operationStore(db, call),
    changes: changeLog(db, call),
    turns: turnStore(db, call),
    messages: messageStore(db, call),
    goals: goalStore(db, call),
    isSnapshot: isCopy,
    close: () => sessions.close(),
  };
}
