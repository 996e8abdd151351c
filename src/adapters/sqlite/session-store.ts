import { resolve } from "node:path";
import type { Database } from "better-sqlite3";
import { AoError } from "../../domain/errors.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import { storeError } from "./errors.ts";
import { MIGRATIONS } from "./migrations.ts";
import { openDatabase } from "./open-database.ts";
import { projectTable } from "./project-table.ts";
import { sessionTable } from "./session-table.ts";
import { settingsTable } from "./settings-table.ts";

export interface SqliteSessionStoreOptions {
  /** The database file; made, with its folder, when there is none. */
  readonly path: string;
  /** How long a call waits for another process's transaction before it is `store_busy`. */
  readonly busyTimeoutMs?: number;
}

function storeOf(db: Database): SessionStore {
  const sessions = sessionTable(db);
  const projects = projectTable(db);
  const settings = settingsTable(db);

  function call<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw storeError(error, db.name);
    }
  }

  function refuseInTransaction(what: string): void {
    if (db.inTransaction) throw new AoError("internal", `${what} inside a transaction of the session store`);
  }

  return {
    transaction(work) {
      refuseInTransaction("a transaction");
      return call(() => db.transaction(work).immediate());
    },
    allocateSessionNumber(prefix) {
      refuseInTransaction("a session number is allocated");
      return call(() => sessions.allocateSessionNumber(prefix));
    },
    get: (id) => call(() => sessions.get(id)),
    list: (projectId) => call(() => sessions.list(projectId)),
    insert: (record) => call(() => sessions.insert(record)),
    save: (record, readRevision) => call(() => sessions.save(record, readRevision)),
    project: (id) => call(() => projects.project(id)),
    projectOfRepository: (path) => call(() => projects.projectOfRepository(path)),
    projects: () => call(() => projects.projects()),
    insertProject: (project) => call(() => projects.insertProject(project)),
    removeProject: (id) => call(() => projects.removeProject(id)),
    rememberOnce: (key, value) => call(() => settings.rememberOnce(key, value)),
    close: () => call(() => db.close()),
  };
}

/**
 * The session store in one SQLite file, shared by any number of processes: write-ahead log, each commit on
 * disk before its call returns, writers one after another, readers never waiting for a writer.
 *
 * @throws AoError store_corrupt, store_newer, store_busy or data_dir_unusable when it cannot be opened; what
 *   was there is left as it was.
 */
export function sqliteSessionStore(options: SqliteSessionStoreOptions): SessionStore {
  const path = resolve(options.path);
  const db = openDatabase({ path, busyTimeoutMs: options.busyTimeoutMs ?? 10_000, migrations: MIGRATIONS });
  return storeOf(db);
}
