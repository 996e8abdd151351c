import type { Database } from "better-sqlite3";
import { AoError } from "../../domain/errors.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import type { Call } from "./calls.ts";
import { projectTable } from "./project-table.ts";
import { sessionTable } from "./session-table.ts";
import { settingsTable } from "./settings-table.ts";
import { verifyDatabase } from "./verify-database.ts";

/** The sessions, projects and settings of a database, and the transactions on all that it holds. */
export function sessionStore(
  db: Database,
  call: Call,
  { isReadOnly }: { readonly isReadOnly: boolean },
): SessionStore {
  const sessions = sessionTable(db);
  const projects = projectTable(db);
  const settings = settingsTable(db, { isReadOnly });

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
    rows: (projectId) => call(() => sessions.rows(projectId)),
    list: (projectId) => call(() => sessions.list(projectId)),
    insert: (record, prompt) => call(() => sessions.insert(record, prompt)),
    promptOf: (id) => call(() => sessions.promptOf(id)),
    save: (record, readRevision) => call(() => sessions.save(record, readRevision)),
    project: (id) => call(() => projects.project(id)),
    projectOfRepository: (path) => call(() => projects.projectOfRepository(path)),
    projects: () => call(() => projects.projects()),
    insertProject: (project) => call(() => projects.insertProject(project)),
    removeProject: (id) => call(() => projects.removeProject(id)),
    rememberOnce: (key, value) => call(() => settings.rememberOnce(key, value)),
    verify: () => call(() => verifyDatabase(db)),
    close: () => call(() => db.close()),
  };
}
