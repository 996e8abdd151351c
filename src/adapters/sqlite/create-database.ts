import { closeSync, fsyncSync, linkSync, openSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import Database from "better-sqlite3";
import { hasErrorCode } from "../../domain/error-code.ts";
import { APPLICATION_ID } from "./database-file.ts";
import { makeDraftFolder } from "./drafts.ts";
import { type Migration, migrate } from "./migrations.ts";

function writeDraft(path: string, migrations: readonly Migration[]): void {
  closeSync(openSync(path, "wx", 0o600));
  const db = new Database(path);
  try {
    db.pragma("synchronous = FULL");
    db.pragma(`application_id = ${APPLICATION_ID}`);
    migrate(db, migrations);
    // Last, so that nothing of the schema is in a log that stays behind with the draft's name.
    db.pragma("journal_mode = WAL");
  } finally {
    db.close();
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function linkUnlessThere(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  }
}

/**
 * Makes a new database of mode 0600 appear at `path`, whole, in write-ahead mode and with the newest schema.
 *
 * It is written under another name and then linked, so that an unfinished one is never seen and an empty
 * file is always damage. When two processes do this at once, one database wins and both succeed. A killed
 * process may leave its draft in a folder that nothing reads; `removeLeftDrafts` finds it.
 */
export function createDatabase(path: string, migrations: readonly Migration[]): void {
  const folder = makeDraftFolder(path);
  try {
    const draft = join(folder, basename(path));
    writeDraft(draft, migrations);
    linkUnlessThere(draft, path);
    syncFolder(dirname(path));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
